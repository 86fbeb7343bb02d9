import type { Extraction } from '#lib/extraction/record.ts';
import { hostOf } from '#lib/http/loopback-guard.ts';
import { mapFigures } from '../../../tools/cli/aws/read-hours.ts';
import { createConsoleApp } from '../../../tools/cli/console/app.ts';
import type { ConsoleSources } from '../../../tools/cli/console/sources/sources.ts';
import { commandTextOf } from '../../../tools/cli/terminal/command-text.ts';
import { at, iso } from '../data/extraction-fixtures.ts';

export const consoleAddress = { port: 4000, token: 'token-of-the-console' };

/** Sources that have these records, and nothing else. */
export const sourcesWith = (
  records: readonly Extraction[],
  more: Partial<ConsoleSources> = {},
): ConsoleSources => ({
  sweepEveryMinutes: 5,
  open: async () => records.filter(({ dueShard }) => dueShard !== undefined),
  recent: async () => ({ items: records, complete: true }),
  lastHour: () => more.recent?.(at(-3_500)) ?? Promise.resolve({ items: records, complete: true }),
  record: async (extractionId) => records.find((record) => record.extractionId === extractionId),
  recordOfTask: async (taskId) => records.find((record) => record.taskId === taskId),
  withName: async (by, name) => ({ items: records.filter((record) => record[by] === name), complete: true }),
  story: async () => undefined,
  tries: async () => [],
  deliveries: async () => ({ items: [], complete: true }),
  sweeps: async () => ({ items: [], complete: true }),
  findings: async () => [],
  alarms: async () => [],
  queues: async () => [],
  hours: async () => mapFigures(() => []),
  line: async () => ({ periodSeconds: 60, periods: [], changes: [] }),
  subjects: async () => ({ subjects: [], hours: [], complete: true }),
  holds: async () => [],
  rate: async () => ({ lanes: [], from: 'none' }),
  ...more,
});

/** An entity of which extractions fail, and one that works. */
export const comparedSubjects: ConsoleSources['subjects'] = async () => {
  const works = {
    requested: 41,
    ended: 41,
    well: 39,
    user: 1,
    caller: 0,
    failed: 1,
    failedSince: iso(-2_700),
    causes: [{ cause: 'TIMEOUT_ERROR', count: 1 }],
    toStart: { p50: 1, p95: 2 },
    toOutcome: { p50: 41, p95: 58 },
  };
  const causes = [
    { cause: 'TIMEOUT_ERROR', count: 8 },
    { cause: 'NOT_STARTED start-window-over', count: 2 },
  ];
  const failedSince = iso(-2_400);
  const fails = { ...works, requested: 14, ended: 12, well: 1, failed: 10, failedSince, causes };
  const day = { ...works, requested: 902, ended: 900, well: 870, user: 19, failed: 11 };
  const days = { lastDay: day, dayBefore: day, dayChange: 'same' } as const;
  const row = { kind: 'entity', hourBefore: works, ...days } as const;
  return {
    subjects: [
      { ...row, subject: 'demo-bank', lastHour: fails, hourChange: 'worse' },
      { ...row, subject: 'other-bank', lastHour: works, hourChange: 'same' },
    ],
    // The bank has failed since 11:20, and this hour has just begun.
    hours: Array.from({ length: 48 }, (_, hoursAgo) => hoursAgo).flatMap((hoursAgo) => {
      const hour = iso(-3_600 * hoursAgo);
      const [ended = 12, failed = 0] =
        [
          [1, 1],
          [11, 9],
        ][hoursAgo] ?? [];
      const user = hoursAgo === 0 ? 0 : 1;
      const others = hoursAgo === 0 ? 2 : 38;
      return [
        { subject: 'demo-bank', hour, ended, well: ended - failed - user, user, caller: 0, failed },
        {
          subject: 'other-bank',
          hour,
          ended: others,
          well: others - 2 * user,
          user,
          caller: user,
          failed: 0,
        },
      ];
    }),
    complete: true,
  };
};

/** What fails for an operator without a permission, as the SDK throws it. */
export const denied = (action: string): Promise<never> => {
  const message = `User: arn:aws:iam::1:user/ana is not authorized to perform: ${action} on resource: r`;
  return Promise.reject(Object.assign(new Error(message), { name: 'AccessDeniedException' }));
};

/** What a console runs with, 100 s after the fixtures were requested. */
export const consoleDeps = (sources: ConsoleSources) => ({
  stage: 'prod',
  command: commandTextOf({ stage: 'prod' }),
  sources,
  now: () => at(100),
  sleep: () => new Promise<void>(() => undefined),
  everyMs: 1,
  actions: [],
  onAction: () => undefined,
  onError: (error: unknown) => {
    throw error;
  },
});

/** What somebody reads on a page. */
export const wordsOf = (page: string): string => page.replace(/<[^>]*>/g, '');

/** The token of a form. */
export const tokenIn = (page: string): string => /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';

/** The console over these sources. `get`, `post` and `submit` are its own browser. */
export const consoleOver = (
  sources: ConsoleSources,
  more: Partial<Parameters<typeof createConsoleApp>[0]> = {},
) => {
  const { token } = consoleAddress;
  const host = hostOf(consoleAddress.port);
  const errors: unknown[] = [];
  const done: string[] = [];
  const app = createConsoleApp({
    ...consoleDeps(sources),
    address: consoleAddress,
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
  const text = async (path: string) => (await send(path)).text();
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    send(path, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { origin: `http://${host}`, ...headers },
    });
  /** Opens the form of an action, sends it, and follows the redirect. `all` is everything that was shown or printed. */
  const submit = async (action: string, fields: { subject: string; input?: string; secret?: string }) => {
    const form = await text(`/actions/${action}?${new URLSearchParams({ subject: fields.subject })}`);
    const answer = await post(`/actions/${action}`, { token: tokenIn(form), ...fields });
    const path = (answer.headers.get('location') ?? '').replace(`/${token}`, '').replace(/#notice$/, '');
    const page = await text(path);
    return { form, path, page, all: [form, path, page, ...done].join() };
  };
  const get = (path: string, headers: Record<string, string> = {}) => send(path, { headers });
  return {
    app,
    errors,
    done,
    get,
    text,
    words: async (path: string) => wordsOf(await text(path)),
    post,
    submit,
  };
};
