import type { Extraction } from '../../lib/extraction/record.ts';
import { createConsoleApp } from '../../tools/cli/console/app.ts';
import type { ConsoleSources } from '../../tools/cli/console/sources.ts';
import { CliError } from '../../tools/cli/terminal/errors.ts';
import { at, iso } from './extraction-fixtures.ts';

export const consoleAddress = { host: '127.0.0.1:4000', token: 'token-of-the-console' };

/** Sources that have these records, and nothing else. */
export const sourcesWith = (
  records: readonly Extraction[],
  more: Partial<ConsoleSources> = {},
): ConsoleSources => ({
  sweepEveryMinutes: 5,
  open: async () => records.filter(({ dueShard }) => dueShard !== undefined),
  recent: async () => ({ items: records, complete: true }),
  record: async (extractionId) => records.find((record) => record.extractionId === extractionId),
  recordOfTask: async (taskId) => records.find((record) => record.taskId === taskId),
  withReference: async (reference) => ({
    items: records.filter((record) => record.reference === reference),
    complete: true,
  }),
  story: async () => undefined,
  deliveries: async () => ({ items: [], complete: true }),
  sweeps: async () => ({ items: [], complete: true }),
  findings: async () => [],
  alarms: async () => [],
  queues: async () => [],
  trends: async () => [],
  subjects: async () => ({ subjects: [], complete: true }),
  breakers: async () => [],
  ...more,
});

/** An entity of which extractions fail, and one that works. */
export const comparedSubjects: ConsoleSources['subjects'] = async () => {
  const works = {
    requested: 41,
    ended: 41,
    well: 39,
    user: 1,
    failed: 1,
    causes: [{ cause: 'TIMEOUT_ERROR', count: 1 }],
    toStart: { p50: 1, p95: 2 },
    toOutcome: { p50: 41, p95: 58 },
  };
  const fails = {
    ...works,
    requested: 14,
    ended: 12,
    well: 1,
    failed: 10,
    causes: [
      { cause: 'TIMEOUT_ERROR', count: 8 },
      { cause: 'NOT_STARTED start-window-over', count: 2 },
    ],
  };
  const day = {
    ...works,
    requested: 902,
    ended: 900,
    well: 870,
    user: 19,
    failed: 11,
    causes: [{ cause: 'TIMEOUT_ERROR', count: 11 }],
  };
  const days = { lastDay: day, dayBefore: day, dayChange: 'same' } as const;
  return {
    subjects: [
      {
        subject: 'demo-bank',
        kind: 'entity',
        lastHour: fails,
        hourBefore: works,
        hourChange: 'worse',
        ...days,
      },
      {
        subject: 'other-bank',
        kind: 'entity',
        lastHour: works,
        hourBefore: works,
        hourChange: 'same',
        ...days,
      },
    ],
    complete: true,
  };
};

/** Something of every kind that the pages show. */
export const troubles: Partial<ConsoleSources> = {
  story: async (extractionId) => ({
    extractionId,
    status: 'RUNNING',
    headline:
      "Waits for the provider's webhook until 12:10:05Z; then the machine polls every 2 min until 14:00:00Z.",
    lines: [
      { at: iso(0), lane: 'api', who: 'API', what: 'Somebody requested movement.' },
      {
        at: iso(1),
        until: iso(605),
        does: 'wait',
        lane: 'machine',
        who: 'Step Functions',
        what: 'State StartTask: start the task, and wait for the webhook.',
      },
      ...[0, 1, 2, 3].map(
        (index) =>
          ({
            at: iso(5 + 12 * index),
            since: iso(2 + 12 * index),
            nextAt: iso(14 + 12 * index),
            does: index === 0 ? 'wait' : 'hold',
            lane: 'machine',
            who: 'Step Functions',
            what: index === 0 ? 'Try failed with ProviderBusy.' : 'Try failed with ProviderPaused.',
            attempt: index + 1,
            verdict: 'failed',
          }) as const,
      ),
      { at: iso(51), lane: 'start', who: 'start-task', what: 'Wrote STARTING.' },
      { at: iso(51.3), lane: 'start', who: 'start-task', what: 'Wrote RUNNING.', verdict: 'ok' },
      {
        at: iso(60),
        lane: 'webhook',
        who: 'receive-webhook',
        what: 'Refused a delivery.',
        verdict: 'refused',
      },
      { at: iso(7_200), lane: 'record', who: 'reconcile', what: 'Ends it TIMED_OUT.' },
    ],
    notShown: ['The stream keeps 24 h.'],
  }),
  deliveries: async () => ({
    items: [
      {
        at: iso(9),
        taskId: 'task-1',
        extractionId: '0190a0b0-0000-7000-8000-000000000003',
        answer: 204,
        verdict: 'recorded',
        wake: 'woken',
      },
      { at: iso(8), taskId: 'task-2', answer: 204, verdict: 'stored' },
      { at: iso(7), answer: 401, verdict: 'mismatch' },
      { at: iso(6), answer: 500, verdict: 'failed' },
      { at: iso(5), answer: 401, verdict: 'doctor' },
    ],
    complete: false,
  }),
  breakers: async () => [
    { name: 'starts', state: 'open', since: iso(40), until: iso(140) },
    { name: 'reads', state: 'closed' },
  ],
  sweeps: async () => ({ items: [{ at: iso(40), sent: 3, failed: 0 }], complete: true }),
  findings: async () => [
    { id: 'stack', result: 'passed', message: 'stack Cosecha-prod is CREATE_COMPLETE' },
    { id: 'sweep', result: 'skipped', message: 'last sweep: skipped' },
    { id: 'overdue', result: 'failed', message: '1 overdue', remedy: '`cosecha reconcile` reconciles it.' },
  ],
  alarms: async () => [
    { name: 'Cosecha-prod-overdue', description: 'Late. https://runbook.example/#overdue', state: 'ALARM' },
  ],
  queues: async () => Promise.reject(new CliError('A permission is missing.')),
  subjects: comparedSubjects,
};

/** What fails for an operator without a permission, as the SDK throws it. */
export const denied = (action: string): Promise<never> => {
  const message = `User: arn:aws:iam::1:user/ana is not authorized to perform: ${action} on resource: r`;
  return Promise.reject(Object.assign(new Error(message), { name: 'AccessDeniedException' }));
};

/** The console over these sources, 100 s after the fixtures were requested. `get` and `post` are its own browser. */
export const consoleOver = (
  sources: ConsoleSources,
  more: Partial<Parameters<typeof createConsoleApp>[0]> = {},
) => {
  const { host, token } = consoleAddress;
  const errors: unknown[] = [];
  const done: string[] = [];
  let randoms = 0;
  const app = createConsoleApp({
    stage: 'prod',
    address: consoleAddress,
    sources,
    now: () => at(100),
    sleep: () => new Promise(() => undefined),
    everyMs: 1,
    actions: [],
    random: () => {
      randoms += 1;
      return `random-${randoms}`;
    },
    onAction: (line) => done.push(line),
    onError: (error) => errors.push(error),
    ...more,
  });
  const send = (path: string, init: RequestInit = {}) =>
    Promise.resolve(
      app.request(`http://${host}/${token}${path}`, {
        ...init,
        headers: { host, ...(init.headers as Record<string, string>) },
      }),
    );
  return {
    app,
    errors,
    done,
    get: (path: string, headers: Record<string, string> = {}) => send(path, { headers }),
    text: async (path: string) => (await send(path)).text(),
    post: (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
      send(path, {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: { origin: `http://${host}`, ...headers },
      }),
  };
};
