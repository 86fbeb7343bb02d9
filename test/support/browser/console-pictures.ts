import type { Extraction } from '#lib/extraction/record.ts';
import type { Hours } from '../../../tools/cli/aws/read-hours.ts';
import type { LineHistory } from '../../../tools/cli/aws/read-line-history.ts';
import type { ConsoleAction } from '../../../tools/cli/console/actions/action-types.ts';
import { requestAgainAction } from '../../../tools/cli/console/actions/start-again-actions.ts';
import type { serveConsole } from '../../../tools/cli/console/serve-console.ts';
import type { AlarmLine, FindingLine, Hold } from '../../../tools/cli/console/sources/sources.ts';
import { explainExtraction } from '../../../tools/cli/explain/explain-extraction.ts';
import { commandTextOf } from '../../../tools/cli/terminal/command-text.ts';
import type { StartRate } from '../../../tools/cli/terminal/describe-rate.ts';
import { sandboxActions } from '../../../tools/local/sandbox-actions.ts';
import {
  bounded,
  event,
  failed,
  inStartTask,
  linkedTask,
  logLine,
  sourcesWith as placesWith,
} from '../../unit/tools/cli/explain/story-fixtures.ts';
import { at, closedExtraction, consentIn, extractionIn, iso } from '../data/extraction-fixtures.ts';
import { comparedSubjects, consoleDeps, sourcesWith } from './console-fixtures.ts';

/**
 * What the pictures of docs/console.md show: a bank that fails, an outage of the provider, a crowd in line, and `npm start`. With
 * `long`, everything is there, and every text of a caller, the provider or AWS is as long as it can be.
 */
export type Pictured = 'day' | 'outage' | 'crowd' | 'sandbox' | 'long';

const idOf = (digits: string): string => `0190a0b0-${digits.slice(0, 4)}-7000-8000-0000${digits}`;

export const completedId = idOf('51c7d2e8');
export const waitingId = idOf('9e4401b6');

const ran = { startingAt: iso(1), startedAt: iso(2), settledBy: 'webhook', isFinal: true } as const;
const collected = {
  collectedAt: iso(42.6),
  results: { bucket: 'b', key: 'k', bytes: 2_489, sha256: 's' },
} as const;

const ended = (
  digits: string,
  requested: number,
  status: Extraction['status'],
  fields: Parameters<typeof closedExtraction>[0] = {},
): Extraction =>
  closedExtraction({
    extractionId: idOf(digits),
    entity: 'demo-bank',
    requestedAt: iso(requested),
    settledAt: iso(requested + 42),
    taskId: `task-${digits}`,
    status,
    ...ran,
    ...(status === 'COMPLETED' || status === 'PARTIAL' || status === 'FAILED' ? collected : {}),
    ...fields,
  });

const timedOutAtBank = (status: 'FAILED' | 'PARTIAL') => ({
  actionResults: [
    { id: 'product-balance', status: status === 'PARTIAL' ? 'COMPLETED' : 'FAILED' },
    { id: 'movement', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
  ].map((result) => (status === 'FAILED' ? { ...result, errorCode: 'TIMEOUT_ERROR' } : result)),
});

const completed = ended('51c7d2e8', 0, 'COMPLETED', { reference: 'order-1042', settledAt: iso(41.9) });
const waiting = extractionIn('REQUESTED', {
  extractionId: waitingId,
  entity: 'demo-bank',
  reference: 'order-1047',
  requestedAt: iso(30),
  attemptId: 'attempt-3',
  dueAt: iso(930),
});

const day: readonly Extraction[] = [
  extractionIn('RUNNING', {
    extractionId: idOf('02aa91f3'),
    entity: 'other-bank',
    reference: 'order-0977',
    requestedAt: iso(-9_000),
    dueAt: iso(-1_000),
  }),
  waiting,
  extractionIn('RUNNING', { extractionId: idOf('7b30c4d5'), entity: 'demo-bank', requestedAt: iso(60) }),
  consentIn('RUNNING', { extractionId: idOf('8c12f0a7'), requestedAt: iso(80), dueAt: iso(110) }),
  completed,
  ended('4402bb19', -120, 'FAILED', timedOutAtBank('FAILED')),
  ended('43f7a0cc', -200, 'PARTIAL', { reference: 'order-1039', ...timedOutAtBank('PARTIAL') }),
  ended('41d09e55', -260, 'COMPLETED', { entity: 'other-bank' }),
  ended('3be81f70', -320, 'CREDENTIALS_WRONG', { entity: 'other-bank' }),
  ended('37c2d4a8', -600, 'COMPLETED', { entity: 'other-bank', settledBy: 'reconcile' }),
  // As many as `comparedSubjects` counts in the last hour: 10 of 12 failed at one bank, and 1 of 41 at the other.
  ...Array.from({ length: 6 }, (_, index) =>
    ended(`3${index}5c11e0`, -2_442 + 330 * index, 'FAILED', timedOutAtBank('FAILED')),
  ),
  ...['2a1160f4', '2b77c39d'].map((digits, index) =>
    ended(digits, -1_900 + 700 * index, 'NOT_STARTED', { settledBy: 'start', reason: 'start-window-over' }),
  ),
  ended('29d0b1c6', -3_000, 'CREDENTIALS_WRONG'),
  ...Array.from({ length: 37 }, (_, index) =>
    ended((0x10a00000 + index * 0x31c7).toString(16), -3_400 + 83 * index, 'COMPLETED', {
      entity: 'other-bank',
    }),
  ),
  ended('1f20aa07', -2_742, 'FAILED', { entity: 'other-bank', ...timedOutAtBank('FAILED') }),
];

const held: readonly Extraction[] = ['9e4401b6', '9e5120aa', '9e77c013', '9f0184e2'].map((digits, index) =>
  extractionIn('REQUESTED', {
    extractionId: idOf(digits),
    entity: index === 2 ? 'other-bank' : 'demo-bank',
    reference: `order-${1_047 + index}`,
    requestedAt: iso(30 + 12 * index),
    dueAt: iso(930 + 12 * index),
  }),
);

/** 200 that were requested in 20 s at a provider that takes two a second. */
const crowd: readonly Extraction[] = Array.from({ length: 200 }, (_, index) => {
  const extractionId = idOf((0x51000000 + index * 0x1357).toString(16));
  const fields = {
    extractionId,
    entity: index % 7 === 3 ? 'other-bank' : 'demo-bank',
    reference: `night, ${index + 1}`,
    batch: 'night',
  };
  const requestedAt = iso(-10 + index / 10);
  if (index >= 96) return extractionIn('REQUESTED', { ...fields, requestedAt, dueAt: iso(900) });
  if (index >= 84) return extractionIn('RUNNING', { ...fields, requestedAt, dueAt: iso(900) });
  return ended('0', -10 + index / 10, 'COMPLETED', { ...fields, settledAt: iso(20 + index / 1.3) });
});

const lane = { caller: completed.requestedBy, priority: 'background' } as const;
const crowdRate: StartRate = {
  from: 'learnt',
  perSecond: 1.93,
  lanes: [
    {
      ...lane,
      waiting: crowd
        .filter(({ status }) => status === 'REQUESTED')
        .map(({ extractionId, requestedAt }) => ({
          ...lane,
          extractionId,
          group: 'demo-bank',
          at: requestedAt,
        })),
    },
  ],
};

const byHand = {
  perSecond: 0.012_345,
  reason: 'their maintenance',
  since: at(0).getTime(),
  by: completed.requestedBy,
};

/** Two days of hours, with a rush in the morning. */
const byHours = (value: (hour: number, index: number) => number | undefined) =>
  Array.from({ length: 48 }, (_, index) => value((index + 13) % 24, index));
const rush = (hour: number): number => Math.round(380 * Math.exp(-(((hour - 8) / 3) ** 2)) + 40);
const hours: Hours = {
  startP50: byHours(() => 1),
  startP95: byHours((hour) => (hour === 7 ? 48 : 3)),
  outcomeP50: byHours((hour) => 38 + (hour % 5)),
  outcomeP95: byHours((hour, index) => (index > 45 ? 140 : 60 + (hour % 7))),
  accepted: byHours(rush),
  refused: byHours((_, index) => (index > 44 && index < 47 ? 12 : 0)),
  waiting: byHours((hour) => (hour === 7 ? 188 : hour === 8 ? 60 : 0)),
  started: byHours(rush),
  busy: byHours((hour) => (hour === 7 ? 31 : 0)),
};

const history = (kind: Pictured): LineHistory => {
  if (kind !== 'crowd' && kind !== 'long') return { periodSeconds: 60, periods: [], changes: [] };
  const periods = Array.from({ length: 60 }, (_, index) => {
    const second = (index - 48) * 10;
    const isCrowd = second >= -10 && second <= 100;
    return {
      at: at(second).getTime(),
      waiting: second === 0 ? 60 : second === 60 ? 150 : isCrowd ? undefined : 0,
      started: isCrowd ? (second < 20 ? 23 : 18 + (index % 3)) : index % 4 === 1 ? 2 : undefined,
      refused: second === 0 ? 21 : second === 10 ? 6 : isCrowd && index % 3 === 0 ? 1 : undefined,
      perSecond: second < 10 ? undefined : second < 40 ? 1.7 : 1.93,
    };
  });
  const change = { accepted: 40, failed: 0 };
  return {
    periodSeconds: 10,
    periods,
    changes: [
      { ...change, at: iso(12), judged: 'cut', perSecond: 1.7, share: 0.38, refused: 27 },
      { ...change, at: iso(41), judged: 'grown', perSecond: 1.93, share: 0.01, refused: 1 },
    ],
  };
};

const recordsOf = (kind: Pictured): readonly Extraction[] => {
  const wentWell = day.filter(({ status }) => status === 'COMPLETED');
  if (kind === 'crowd') return [...crowd, ...wentWell];
  return kind === 'outage' ? [...held, ...wentWell] : day;
};

const holds = (kind: Pictured): readonly Hold[] => {
  const { requestedBy: caller } = completed;
  const open = { kind: 'open', calls: 'starts', caller, since: iso(62), nextTurnAt: iso(125) } as const;
  const paused = {
    kind: 'paused',
    calls: 'starts',
    since: iso(-90_000),
    reason: 'it is down',
    by: caller,
  } as const;
  if (kind === 'long') return [paused, { ...open, group: 'demo-bank', cause: 'http-503' }];
  return kind === 'outage' ? [{ ...open, cause: 'http-503' }] : [];
};

const places = {
  [completedId]: placesWith({
    record: completed,
    task: linkedTask({ taskId: 'task-51c7d2e8', extractionId: completedId, notifiedAt: iso(41.8) }),
    execution: inStartTask(
      failed(4, 'ProviderBusy', 'http-429'),
      event(6, 'TaskScheduled'),
      event(42, 'TaskSucceeded'),
      event(42, 'TaskStateExited', { state: 'StartTask' }),
      event(42, 'ExecutionSucceeded'),
    ),
    logs: bounded(
      logLine(0.1, 'request-extraction', 'Extraction requested.', { outcome: 'accepted' }),
      logLine(30, 'receive-webhook', 'Delivery refused.', { reason: 'mismatch', status: 401 }),
      logLine(41.8, 'receive-webhook', 'Delivery received.', { verdict: 'recorded' }),
    ),
  }),
  [waitingId]: placesWith({
    record: waiting,
    execution: {
      startedAt: iso(30.1),
      events: [
        event(30.1, 'ExecutionStarted'),
        event(30.2, 'TaskStateEntered', { state: 'StartTask' }),
        event(31, 'TaskScheduled'),
        failed(36, 'ProviderBusy', 'user-busy'),
        event(41, 'TaskScheduled'),
        failed(52, 'ProviderUnreachable', 'unreachable'),
        event(61, 'TaskScheduled'),
        failed(78, 'ProviderUnreachable', 'unreachable'),
      ],
    },
    holds: async () => holds('outage'),
  }),
};

const system: Parameters<typeof sandboxActions>[0] = {
  provider: {} as never,
  endOutage: async () => undefined,
  report: () => undefined,
  api: { base: '', fetch: async () => new Response() },
};

const actions: readonly ConsoleAction[] = [
  requestAgainAction({
    apiUrl: '',
    fetch: async () => new Response(),
    sleep: async () => undefined,
    matching: async () => recordsOf('day'),
  }),
  ...(['Reconcile now', 'Link to the results'] as const).map(
    (label, index): ConsoleAction => ({
      id: `action-${index}`,
      label,
      place: 'extraction',
      effect: label,
      isFor: ({ dueShard }) => (index === 0) === (dueShard !== undefined),
      run: async () => ({ text: 'It is REQUESTED.' }),
    }),
  ),
];

const overdue: FindingLine = {
  id: 'overdue',
  result: 'failed',
  message: `1 overdue; the longest due, ${idOf('02aa91f3')}, for 18 min`,
  remedy: `\`cosecha reconcile ${idOf('02aa91f3')}\` reconciles it now and reports what fails.`,
};

const alarm: AlarmLine = {
  name: 'Cosecha-prod-overdue',
  description: 'A record is overdue. https://runbook.example/#overdue',
  state: 'ALARM',
  since: iso(-30),
};

/** As long as the API and AWS allow, and without a place to break it: by the attributes that have it. */
const [entity, requestedBy, code] = [
  `entity-${'e'.repeat(249)}`,
  `arn:aws:sts::111122223333:assumed-role/${'Caller'.repeat(10)}Role`,
  'CONSTRAINT_FAILED_AT_THE_PROVIDER_'.repeat(5),
];
const longest: Readonly<Record<string, string | number>> = {
  ...{ entity, subject: entity, group: entity, requestedBy, caller: requestedBy, by: requestedBy },
  ...{ reference: `reference-${'R'.repeat(246)}`, taskId: `task-${'t'.repeat(95)}`, reason: 'R'.repeat(200) },
  ...{ cause: code, error: code, message: code, errorCode: code, collectionError: code },
  ...{ remedy: `\`cosecha ${code}\` ${code}`, description: `${code} https://runbook.example/#${code}` },
  ...{ waiting: 1e6, later: 1e6, inFlight: 120_000, sent: 1e6, failed: 1_000, requested: 1e6, count: 1_000 },
  ...{ started: 1e4, refused: 1e4, perSecond: 123.456, p95: 172_799 },
};

/** The same, or what its functions return, with the longest value wherever an attribute can be so long. */
const lengthened = <Value>(value: Value): Value => {
  const lengthen = (one: unknown, name = ''): unknown => {
    if (typeof one === 'function') return async (...input: unknown[]) => lengthen(await one(...input));
    if (Array.isArray(one)) return one.map((item) => lengthen(item, name));
    if (typeof one === 'object' && one !== null)
      return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, lengthen(inner, key)]));
    return typeof one === typeof longest[name] ? longest[name] : one;
  };
  return lengthen(value) as Value;
};

/** What the console is served with. Its time is 100 s after that of the fixtures. */
export const picturedDeps = (kind: Pictured): Parameters<typeof serveConsole>[1] => {
  const shown = kind === 'long' ? lengthened : <Value>(value: Value): Value => value;
  const sources = sourcesWith(recordsOf(kind), {
    story: async (id) =>
      explainExtraction(shown(places[id] ?? placesWith()), {
        extractionId: id,
        now: at(100),
        command: commandTextOf(),
      }),
    holds: async () => holds(kind),
    sweeps: async () => ({ items: [iso(40)], complete: true }),
    queues: async () => [
      { name: 'reconcile queue', isDeadLetters: false, waiting: 1, later: 2, inFlight: 0 },
      { name: 'slow queue', isDeadLetters: false, waiting: 0, later: 0, inFlight: 0 },
      { name: 'dead letters', isDeadLetters: true, waiting: 0, later: 0, inFlight: 0 },
    ],
    deliveries: async () => ({
      items: [
        {
          at: iso(41.8),
          taskId: 'task-51c7d2e8',
          extractionId: completedId,
          answer: 204,
          verdict: 'recorded',
          wake: 'woken',
        },
        { at: iso(30), answer: 401, verdict: 'mismatch' },
        { at: iso(12), taskId: 'task-unknown', answer: 204, verdict: 'stored' },
        {
          at: iso(-78),
          taskId: 'task-4402bb19',
          extractionId: idOf('4402bb19'),
          answer: 204,
          verdict: 'recorded',
          wake: 'woken',
        },
        {
          at: iso(-108),
          taskId: 'task-4402bb19',
          extractionId: idOf('4402bb19'),
          answer: 500,
          verdict: 'failed',
        },
      ],
      complete: true,
    }),
    findings: async () => [
      { id: 'stack', result: 'passed', message: 'stack Cosecha-prod is UPDATE_COMPLETE' },
      {
        id: 'state-machine',
        result: 'passed',
        message: 'machine is ACTIVE, and no execution broke within a day',
      },
      ...(kind === 'day' || kind === 'long' ? [overdue] : []),
    ],
    alarms: async () => [
      ...(kind === 'day' || kind === 'long' ? [alarm] : []),
      { name: 'Cosecha-prod-dead-letters', state: 'OK' },
    ],
    subjects: comparedSubjects,
    hours: async () => hours,
    line: async () => history(kind),
    ...(kind === 'crowd' ? { rate: async () => crowdRate } : {}),
    ...(kind === 'long' ? { rate: async () => ({ ...crowdRate, byHand }) } : {}),
  });
  return {
    ...consoleDeps(shown(sources)),
    everyMs: 60_000,
    // No other stage than that of `npm start` has a sandbox.
    ...(kind === 'sandbox'
      ? {
          stage: 'local',
          actions: [...sandboxActions(system), ...actions],
          sandboxState: async () => ({ active: ['The provider answers with 503, for 24 s more.'] }),
        }
      : { actions }),
  };
};
