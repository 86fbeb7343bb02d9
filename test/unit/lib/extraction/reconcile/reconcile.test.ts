import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { defined } from '#lib/defined.ts';
import { type Read, readingOfTask } from '#lib/extraction/reconcile/read-task.ts';
import { type ReconcileDeps, type ReconcileInvoker, reconcile } from '#lib/extraction/reconcile/reconcile.ts';
import type { SendReconcile } from '#lib/extraction/reconcile-message.ts';
import { type Extraction, terminalStatuses } from '#lib/extraction/record.ts';
import type { Task } from '#lib/extraction/store.ts';
import type { TaskReading } from '#lib/provider/tasks/read-task.ts';
import {
  ProviderAmbiguous,
  ProviderAnswerTooLarge,
  ProviderRefused,
  ProviderUnreachable,
} from '#lib/provider/transport/errors.ts';
import type { LineEntry } from '#lib/rate-limit/start-line.ts';
import {
  at,
  closedExtraction,
  consentIn,
  extraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { extractionInMemory } from '../../../../support/stores/extraction-in-memory.ts';
import { storedRequest } from '../../../../support/stores/memory-request-store.ts';
import { memoryStartLine } from '../../../../support/stores/memory-start-line.ts';

const machine: ReconcileInvoker = { kind: 'machine' };
const broken: ReconcileInvoker = { kind: 'queue', cause: 'execution-broken' };
const swept: ReconcileInvoker = { kind: 'queue', cause: 'sweep' };
/** The slow queue. */
const slow: ReconcileInvoker = { kind: 'queue', cause: 'sweep', isSlow: true };
const operator: ReconcileInvoker = { kind: 'operator' };
const everybody = [machine, broken, swept, operator];

/** The provider's answer to a read, as a whole body. */
const answer = (taskStatus: string, results: unknown = null): TaskReading => ({
  taskStatus,
  results,
  bytes: Buffer.from(JSON.stringify({ taskStatus, results })),
});
const full = { actions: [{ id: 'tef', status: 'COMPLETED', output: { secret: 1 } }] };

const tooLarge: Read = { reading: { kind: 'too-large', taskStatus: undefined }, bytes: undefined };

type Setup = {
  readonly task?: Task;
  /** One for each read, in order; the last one stays. */
  readonly reads?: readonly (TaskReading | Read | Error)[];
  /** An operator paused reads. */
  readonly isPaused?: boolean;
  readonly storing?: () => void;
  /** Whether each store was brief. */
  readonly limits?: boolean[];
  /** The queue refuses messages. */
  readonly isFull?: boolean;
  readonly now?: number;
  /** How many seconds pass with each look at the clock. */
  readonly passing?: number;
  /** Who waits for the provider's rate, and the callback tokens that are answered. */
  readonly inLine?: {
    readonly startLine: ReconcileDeps['startLine'];
    readonly answered: string[];
  };
};

const isClosed = (record: Extraction | undefined): boolean =>
  record !== undefined &&
  record.dueShard === undefined &&
  record.dueAt === undefined &&
  record.expiresAt !== undefined;

const world = (record: Extraction | undefined, setup: Setup = {}) => {
  const { deps: stores, seen } = extractionInMemory(record, { now: setup.now ?? 100 });
  if (setup.task !== undefined) seen.tasks.items.set('task-1', setup.task);
  const stored: string[] = [];
  /** To which queue, which message, with which delay. */
  const sent: unknown[] = [];
  const sendTo =
    (queue: string): SendReconcile =>
    async (message, _caller, delaySeconds = 0) => {
      if (setup.isFull) throw new Error('throttled');
      sent.push([queue, message, delaySeconds]);
    };
  let reads = 0;
  const deps: ReconcileDeps = {
    ...stores,
    extractions: {
      ...stores.extractions,
      // Takes a turn of the event loop, as a write of DynamoDB does. One that is not awaited would come after the invocation.
      apply: async (change) => {
        await setImmediate();
        return stores.extractions.apply(change);
      },
    },
    readCallFor: async (_record, taskId) => {
      expect(taskId).toBe('task-1');
      reads += 1;
      const answers = setup.reads ?? [answer('RUNNING')];
      const given = answers[Math.min(reads, answers.length) - 1];
      return {
        tokens: { current: async () => 'token', drop: () => undefined },
        get: async () => {
          if (given === undefined || given instanceof Error) throw given;
          return 'reading' in given ? given : readingOfTask(given, [{ id: 'tef' }]);
        },
      };
    },
    isPaused: async () => setup.isPaused === true,
    now: () => {
      const time = stores.now();
      seen.time.advance(setup.passing ?? 0);
      return time;
    },
    send: sendTo('queue'),
    sendSlow: sendTo('slow queue'),
    storeResults: async (extractionId, bytes, isBrief) => {
      setup.limits?.push(isBrief);
      setup.storing?.();
      stored.push(Buffer.from(bytes).toString());
      return { bucket: 'b', key: `${extractionId}/s.json`, bytes: bytes.byteLength, sha256: 's' };
    },
    startLine: setup.inLine?.startLine ?? memoryStartLine(),
    wake: async (token) => setup.inLine?.answered.push(token),
  };
  return {
    ...seen,
    /** Also checks that the record is closed if it ended so, and only then. */
    reconcile: async (caller: ReconcileInvoker) => {
      const result = await reconcile(id, caller, deps);
      expect(isClosed(seen.record())).toBe(result.conclusion === 'closed');
      // A read that moves to the slow queue writes that, and nothing follows from it.
      if (result.conclusion !== 'moved') expect(result.record).toEqual(seen.record());
      return result;
    },
    sent,
    stored,
    reads: () => reads,
  };
};

/** Reconciles each time the record is due, until it is closed. The pauses between. */
const pausesOf = async ({ reconcile, time }: ReturnType<typeof world>, caller: ReconcileInvoker) => {
  const pauses: number[] = [];
  for (
    let ended = await reconcile(caller);
    ended.conclusion === 'deferred';
    ended = await reconcile(caller)
  ) {
    const pause = (Date.parse(ended.record.dueAt ?? '') - time.now().getTime()) / 1_000;
    pauses.push(pause);
    time.advance(pause);
  }
  return pauses;
};

describe('REQUESTED', () => {
  test.each([
    ['the machine has abandoned the start', machine, 100, 'start-abandoned'],
    ['the execution broke', broken, 100, 'start-abandoned'],
    ['the start window is over', swept, 900, 'start-window-over'],
  ])('%s: NOT_STARTED', async (_what, caller, now, reason) => {
    const { reconcile, counted, progress, reads } = world(extraction(), { now });
    const outcome = { status: 'NOT_STARTED', reason };
    const record = { ...outcome, settledAt: iso(now), settledBy: 'reconcile' };
    expect(await reconcile(caller)).toMatchObject({ conclusion: 'closed', record });
    const times = { seconds: now, settledMs: at(now).getTime() };
    const about = { extractionId: id, caller: extraction().requestedBy, entity: 'bank', ...times };
    expect(progress).toEqual([['Extraction ended.', { ...about, ...outcome, failed: true }]]);
    expect([counted, reads()]).toEqual([['NotStarted'], 0]);
  });
});

const http = (status: number) => new ProviderAmbiguous('', { status });
/** The provider is down. */
const down = { reads: [new ProviderAmbiguous('reset')] };

describe('RUNNING', () => {
  const running = extractionIn('RUNNING');

  test.each(terminalStatuses)('a read of %s settles it, and collects from that very read', async (status) => {
    const { reconcile, counted, reads, stored } = world(running, { reads: [answer(status, full)] });
    const record = { status, settledBy: 'reconcile', settledAt: iso(100), collectedAt: iso(100) };
    expect(await reconcile(machine)).toMatchObject({ conclusion: 'closed', record });
    expect(reads()).toBe(1);
    expect(stored).toEqual([JSON.stringify({ taskStatus: status, results: full })]);
    expect(counted).toEqual(['SettledByReconcile', 'WebhookMissed', 'Collected']);
  });

  test('a status that a webhook left settles it even if the provider cannot be read; on an unlinked task it counts as early', async () => {
    const { reconcile, requests, counted } = world(running, {
      task: { taskId: 'task-1', taskStatus: 'FAILED' },
      reads: [new ProviderUnreachable('x')],
    });
    const { conclusion, record } = await reconcile(machine);
    const settled = { status: 'FAILED', settledAt: iso(100), dueAt: iso(105) };
    expect([conclusion, record]).toMatchObject(['deferred', settled]);
    expect(record).not.toHaveProperty('collectedAt');
    expect(requests.items.size).toBe(0);
    const settling = ['SettledByReconcile', 'EarlyDelivery'];
    expect(counted).toEqual([...settling, 'ProviderReadFailed', 'CollectionFailed']);
  });

  test.each<readonly [string, readonly string[]]>([
    ['PENDING', []],
    ['RUNNING', []],
    ['PAUSED', ['UnknownTaskStatus']],
  ])('%s decides nothing yet, and an undocumented status is counted', async (status, metrics) => {
    const { reconcile, counted } = world(running, { reads: [answer(status)], now: 7_199.999 });
    expect(await reconcile(machine)).toEqual({
      conclusion: 'not-yet',
      explanation: 'still-running',
      record: running,
    });
    expect(counted).toEqual(metrics);
  });

  test.each<readonly [string, Error]>([
    ['ProviderRefused', new ProviderRefused('404', 404)],
    ['ProviderAmbiguous', new ProviderAmbiguous('503')],
    // Of a login. Of the task it would be a reading.
    ['ProviderAnswerTooLarge', new ProviderAnswerTooLarge('x', 200)],
    ['InternalError', new Error('Secrets Manager is down')],
  ])('a read that fails decides nothing: %s', async (explanation, failure) => {
    const { reconcile, counted, failures } = world(running, { reads: [failure] });
    expect(await reconcile(machine)).toEqual({ conclusion: 'not-yet', explanation, record: running });
    expect(counted).toEqual(['ProviderReadFailed']);
    expect(failures).toEqual(['The task could not be read.']);
  });

  const byConsent = consentIn('RUNNING');
  const failedOnce = consentIn('RUNNING', { lastProblem: 'http-503' });

  test.each<readonly [string, Extraction, Setup, ReconcileInvoker, string | undefined]>([
    ['the task runs', running, {}, machine, 'still-running'],
    ['the read failed', running, { reads: [http(500)] }, machine, 'http-500'],
    ['nobody knows', running, { isPaused: true }, machine, undefined],
    ['no read was ever made', byConsent, { isPaused: true }, slow, 'never-read'],
    ['a brief read failed', { ...byConsent, readsSlowly: true }, { isPaused: true }, slow, undefined],
    ['an earlier one failed', failedOnce, { isPaused: true }, slow, 'http-503'],
  ])(
    'past the deadline it is TIMED_OUT, with what the last read showed: %s',
    async (_, before, setup, caller, lastProblem) => {
      const { reconcile, counted, progress, reads } = world(before, { ...setup, now: 7_200 });
      const { conclusion, record } = await reconcile(caller);
      const timedOut = { status: 'TIMED_OUT', reason: 'deadline-passed', advice: 'wait' };
      expect(record).toMatchObject({ ...timedOut, settledAt: iso(7_200), dueAt: iso(7_320) });
      expect([conclusion, record?.lastProblem, reads()]).toEqual([
        'deferred',
        lastProblem,
        setup.isPaused ? 0 : 1,
      ]);
      expect(counted).toEqual(
        expect.arrayContaining(setup.isPaused ? ['ReadsHeld', 'TimedOut'] : ['TimedOut']),
      );
      expect(progress).toMatchObject([['Extraction ended.', { status: 'TIMED_OUT', seconds: 7_200 }]]);
    },
  );
});

describe('settled by the provider and not collected', () => {
  const settled = extractionIn('PARTIAL');

  test.each(everybody)(
    'the results are read, stored as they came, and the record closed: %j',
    async (caller) => {
      const results = {
        actions: [
          { id: 'tef', status: 'COMPLETED', output: { secret: 1 } },
          { id: 'movement', status: 'FAILED', error: { code: 'TIMEOUT_ERROR', message: 'secret' } },
        ],
      };
      const { reconcile, stored, counted, progress } = world(settled, {
        reads: [answer('PARTIAL', results)],
      });
      const { conclusion, record } = await reconcile(caller);
      const body = JSON.stringify({ taskStatus: 'PARTIAL', results });
      expect([conclusion, stored, counted]).toEqual(['closed', [body], ['Collected']]);
      expect(record).toMatchObject({
        status: 'PARTIAL',
        settledBy: 'webhook',
        collectedAt: iso(100),
        results: { bucket: 'b', key: `${id}/s.json`, bytes: body.length, sha256: 's' },
        actionResults: [
          { id: 'tef', status: 'COMPLETED' },
          { id: 'movement', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
        ],
      });
      expect(JSON.stringify([record, progress])).not.toContain('secret');
      const codes = { extractionId: id, entity: 'bank', status: 'PARTIAL', cause: 'TIMEOUT_ERROR' };
      const settledMs = at(30).getTime();
      expect(progress).toContainEqual(['Error codes collected.', { ...codes, settledMs }]);
    },
  );

  // The API document has null for the two CREDENTIALS_ statuses only.
  test.each([
    ['CREDENTIALS_WRONG', null, 0, ['Collected']],
    ['CREDENTIALS_LOCKED', null, 0, ['Collected']],
    ['CREDENTIALS_WRONG', 'a text', 1, ['UnexpectedResults', 'Collected']],
  ] as const)(
    '%s with the results %j is closed as collected, and what is unexpected is stored and counted',
    async (status, results, storings, metrics) => {
      const { reconcile, stored, counted } = world(extractionIn(status), {
        reads: [answer(status, results)],
      });
      const { conclusion, record } = await reconcile(machine);
      expect([conclusion, record?.collectedAt]).toEqual(['closed', iso(100)]);
      expect([stored.length, counted]).toEqual([storings, metrics]);
      expect(record?.results?.sha256).toBe(storings === 1 ? 's' : undefined);
      expect(record).not.toHaveProperty('actionResults');
      expect(record).not.toHaveProperty('lastProblem');
    },
  );

  test.each([extractionIn('COMPLETED'), extractionIn('FAILED')])(
    'results that stay incomplete are stored when resultsLag has passed, and the record and a metric say so',
    async (settled_) => {
      const { status } = settled_;
      const { record, ...rest } = world(settled_, { reads: [answer(status)], now: 30 });
      const pauses = await pausesOf({ record, ...rest }, swept);
      expect(pauses).toEqual([5, 5, 10, 20, 40, 80, 160, 280]);
      expect(rest.stored).toEqual([JSON.stringify({ taskStatus: status, results: null })]);
      expect(record()).toMatchObject({
        collectedAt: iso(30 + timings.resultsLag),
        lastProblem: 'results-incomplete',
        advice: 'request-again',
        results: { sha256: 's' },
      });
      expect(record()).not.toHaveProperty('collectionError');
      expect(rest.counted.slice(-3)).toEqual(['UnexpectedResults', 'Collected', 'ResultsIncomplete']);
    },
  );

  test('a read with another final status is collected, and the disagreement is counted', async () => {
    const { reconcile, counted } = world(settled, { reads: [answer('COMPLETED', full)] });
    const record = { status: 'PARTIAL', collectedAt: iso(100) };
    expect(await reconcile(machine)).toMatchObject({ conclusion: 'closed', record });
    expect(counted).toEqual(['StatusDisagreement', 'Collected']);
    const without = world(settled, { reads: [answer('CREDENTIALS_WRONG')] });
    expect(await without.reconcile(machine)).toMatchObject({ explanation: 'no-results' });
    expect(without.counted).toEqual(['StatusDisagreement', 'CollectionFailed']);
  });

  const storing = () => {
    throw new Error('S3 is down');
  };

  test.each<readonly [string, Setup, readonly string[], Partial<Extraction>]>([
    [
      'the provider is down',
      down,
      ['ProviderReadFailed', 'CollectionFailed'],
      { readsSlowly: true, lastProblem: 'reset' },
    ],
    ['the provider returns RUNNING', {}, ['CollectionFailed'], { lastProblem: 'still-running' }],
    [
      'S3 is down',
      { reads: [answer('PARTIAL', full)], storing },
      ['CollectionFailed'],
      { readsSlowly: true, lastProblem: 'results-not-stored' },
    ],
  ])('%s: the outcome stays, and collecting is retried', async (_what, setup, metrics, more) => {
    const { reconcile, counted } = world(settled, setup);
    const { conclusion, record } = await reconcile(machine);
    // It has waited 70 s since it was settled, so as long again.
    expect([conclusion, record]).toEqual(['deferred', { ...settled, dueAt: iso(170), ...more }]);
    expect(counted).toEqual(metrics);
  });

  test('a store that fails in the reconcile queue moves to the slow queue, which has more time for it', async () => {
    const limits: boolean[] = [];
    const setup = { reads: [answer('PARTIAL', full)], storing };
    const { reconcile, sent, counted, record, time } = world(settled, { ...setup, limits });
    expect(await reconcile(swept)).toMatchObject({ conclusion: 'moved', explanation: 'results-not-stored' });
    expect(record()).toEqual({ ...settled, readsSlowly: true });
    const { dueAt } = settled;
    expect([sent, counted]).toEqual([[['slow queue', { extractionId: id, cause: 'sweep', dueAt }, 0]], []]);
    await reconcile(slow);
    expect([limits, counted]).toEqual([[true, false], ['CollectionFailed']]);
    expect(sent.at(-1)).toMatchObject(['slow queue', { cause: 'due' }, 70]);
    time.advance(70);
    // Nothing is read or stored there until the slow queue could.
    expect(await reconcile(swept)).toMatchObject({ conclusion: 'moved' });
    expect(limits).toHaveLength(2);
  });

  test('it is retried with pauses that double, from the first poll interval to an hour', async () => {
    const pauses = await pausesOf(world(settled, { ...down, now: 30 }), slow);
    expect(pauses.slice(0, 13)).toEqual([5, 5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600]);
  });

  test('after collectFor, collecting is abandoned with a collectionError', async () => {
    const now = 30 + timings.collectFor;
    const before = { ...settled, readsSlowly: true } as const;
    const { reconcile, counted } = world(before, { ...down, now });
    const { conclusion, record } = await reconcile(slow);
    const abandoned = { status: 'PARTIAL', collectionError: 'ProviderAmbiguous' };
    expect([conclusion, record]).toMatchObject(['closed', abandoned]);
    expect(record).not.toHaveProperty('readsSlowly');
    expect(counted).toEqual(['ProviderReadFailed', 'CollectionFailed', 'CollectionAbandoned']);
  });
});

describe('the item of a consent', () => {
  const timedOut = consentIn('TIMED_OUT');

  test.each<readonly [string, Extraction, Setup & { readonly now: number }]>([
    ['a pause', timedOut, { isPaused: true, now: 7_200 + 3 * 86_400 }],
    ['a longer start window', extraction({ dueAt: iso(790) }), { now: 800 }],
  ])('outlives %s that holds the record beyond its expiry', async (_what, before, setup) => {
    const { now } = setup;
    const { reconcile, record, requests } = world(before, setup);
    const expiring = (seconds: number) => ({
      ...storedRequest(id),
      expiresAt: at(seconds).getTime() / 1_000,
    });
    requests.items.set('request-1', expiring(now + 10));
    await reconcile(slow);
    const { dueAt = '' } = record() ?? {};
    expect(dueAt > iso(now)).toBe(true);
    const expiresAt = Date.parse(dueAt) / 1_000 + 86_400;
    expect([...requests.items.values()]).toEqual([{ ...storedRequest(id), expiresAt }]);
    requests.items.set('request-1', expiring(now + 300_000));
    await reconcile(slow);
    expect([...requests.items.values()]).toEqual([expiring(now + 300_000)]);
  });
});

test('in grace, the pauses between reads double from two minutes, and the last read is at its end', async () => {
  const its = world(extractionIn('TIMED_OUT'), { now: 7_200 });
  const pauses = await pausesOf(its, swept);
  expect(pauses).toEqual([120, 120, 240, 480, 960, 1_920, 3_840, 7_680, 15_360, 30_720, 24_960]);
  expect(its.record()?.status).toBe('TIMED_OUT');
});

test.each<readonly [string, Extraction, number]>([
  ['is remembered', extractionIn('RUNNING', { oversizedAt: iso(7_200) }), 0],
  ['is read past the deadline', extractionIn('RUNNING'), 1],
])('an answer over the size limit that %s closes the record, without grace', async (_what, before, asked) => {
  const { reconcile, reads, counted } = world(before, { reads: [tooLarge], now: 7_200 });
  const { conclusion, record } = await reconcile(slow);
  const timedOut = { status: 'TIMED_OUT', reason: 'deadline-passed', oversizedAt: iso(7_200) };
  const closed = { ...timedOut, collectionError: 'results-too-large' };
  expect([conclusion, record]).toMatchObject(['closed', closed]);
  expect(record).not.toHaveProperty('collectedAt');
  expect([reads(), counted]).toEqual([asked, ['TimedOut', 'CollectionAbandoned']]);
});

const machineAfter = (lastProblem: string): ReconcileInvoker => ({ kind: 'machine', lastProblem });

test.each<[string, string | undefined, ReconcileInvoker, string | undefined, string]>([
  ['the machine', undefined, machineAfter('secret-not-filled'), 'secret-not-filled', 'operator'],
  ['the machine, not the record', 'http-429', machineAfter('held/slow'), 'held/slow', 'request-later'],
  ['the record', 'quota-reached', swept, 'quota-reached', 'request-later'],
  ['nobody', undefined, swept, undefined, 'request-again'],
])('NOT_STARTED has what is known from %s', async (_who, known, caller, lastProblem, advice) => {
  const { reconcile } = world(extraction(defined({ lastProblem: known })), { now: 900 });
  const { record } = await reconcile(caller);
  expect(record).toMatchObject({ status: 'NOT_STARTED', reason: 'start-window-over', advice });
  expect(record?.lastProblem).toBe(lastProblem);
});

const collected = closedExtraction({
  status: 'COMPLETED',
  taskId: 'task-1',
  collectedAt: iso(40),
  settledAt: iso(30),
});
const asked = (cause: 'webhook' | 'start'): ReconcileInvoker => ({ kind: 'queue', cause });

test('what is not started any more leaves the line, also if an earlier try to do so failed', async () => {
  const record = extraction();
  const { requestId } = record;
  const line = memoryStartLine();
  await line.write({ extractionId: id, requestId, attempt: 0, slot: 'slot', waitedMs: 0, expiresAt: 1e11 });
  line.enter(id, requestId, 'token');
  const answered: string[] = [];
  let isDown = true;
  const withdraw: typeof line.withdraw = async (found) => {
    if (isDown) throw new Error('throttled');
    return line.withdraw(found);
  };
  const { reconcile } = world(record, { inLine: { startLine: { ...line, withdraw }, answered } });
  expect((await reconcile(swept)).record?.status).toBe('REQUESTED');
  expect(answered).toEqual([]);
  expect((await reconcile(broken)).record?.status).toBe('NOT_STARTED');
  expect(await line.find(id)).toBeDefined();
  isDown = false;
  await reconcile(broken);
  expect([await line.find(id), answered]).toEqual([undefined, ['token', 'token']]);
});

test.each<readonly [string, number, ReconcileInvoker, Partial<LineEntry> & { isStale?: true }, object]>([
  ['has waited', 900, swept, { waitedMs: 1_000 }, { status: 'REQUESTED', dueAt: iso(901) }],
  ['waits', 900, swept, { waitingSince: iso(10) }, { dueAt: iso(21_610) }],
  ['waits without a token', 900, swept, { waitingSince: iso(10), isStale: true }, { dueAt: iso(910) }],
  [
    'waited for nobody',
    911,
    swept,
    { waitingSince: iso(10), isStale: true },
    { status: 'NOT_STARTED', reason: 'start-window-over' },
  ],
  ['waits while its window ends', 899.9995, swept, { waitingSince: iso(10) }, { status: 'REQUESTED' }],
  ['waits early', 899, swept, { waitingSince: iso(10) }, { dueAt: iso(900) }],
  ['waits again', 900, swept, { waitedMs: 7e6, waitingSince: iso(20) }, { dueAt: iso(14_620) }],
  [
    'waited long',
    900,
    swept,
    { waitedMs: 216e5, waitingSince: iso(899) },
    { lastProblem: 'waited-too-long' },
  ],
  ['waits no more', 900, machine, { waitingSince: iso(10) }, { reason: 'start-window-over' }],
  [
    'is not in line',
    900,
    swept,
    { requestId: 'of before', waitingSince: iso(10) },
    { status: 'NOT_STARTED' },
  ],
])(
  'after its start window, one that %s ends in time',
  async (_, now, invoker, { isStale, ...waited }, expected) => {
    const record = extraction();
    const { requestId } = record;
    const line = memoryStartLine();
    const entry = { extractionId: id, requestId, attempt: 0, slot: 'slot', waitedMs: 0, expiresAt: 1e11 };
    await line.write({ ...entry, ...waited });
    if (isStale !== true) line.enter(id, requestId, 'token');
    const { reconcile } = world(record, { now, passing: 0.001, inLine: { startLine: line, answered: [] } });
    expect((await reconcile(invoker)).record).toMatchObject(expected);
  },
);

test.each<readonly [ReconcileInvoker, number]>([
  ...everybody.map((caller) => [caller, 1] as const),
  [asked('webhook'), 0],
  [asked('start'), 0],
])(
  'an outcome that another process wrote is logged again, but not for the message of that process: %j',
  async (caller, times) => {
    const { reconcile, progress } = world(collected);
    await reconcile(caller);
    expect(progress).toHaveLength(times);
  },
);

test('an outcome is logged once by the process that settles and collects', async () => {
  const { reconcile, progress } = world(extractionIn('RUNNING'), { reads: [answer('COMPLETED', full)] });
  await reconcile(machine);
  expect(progress.map(([message]) => message)).toEqual(['Extraction ended.']);
});

describe('the next message', () => {
  const due: ReconcileInvoker = { kind: 'queue', cause: 'due' };

  test.each([
    [900, [['slow queue', expect.anything(), 900]], 0],
    [901, [], 1],
  ])(
    'of a pause of %i s: only one that a message cannot wait is counted, and left to the sweep',
    async (now, sent, deferred) => {
      const settled = extractionIn('PARTIAL', { settledAt: iso(0) });
      const held = world(settled, { ...down, now });
      expect(await held.reconcile(slow)).toMatchObject({ record: { dueAt: iso(2 * now) } });
      expect(held.sent).toEqual(sent);
      expect(held.counted.filter((metric) => metric === 'CollectionDeferred')).toHaveLength(deferred);
    },
  );

  test('that the queue refuses is left to the sweep', async () => {
    const held = world(consentIn('RUNNING', { dueAt: iso(100) }), { isFull: true });
    expect(await held.reconcile(due)).toMatchObject({ conclusion: 'deferred' });
    expect(held.failures).toEqual(['The next reconcile was left to the sweep.']);
  });
});

describe('a read in the reconcile queue', () => {
  const due: ReconcileInvoker = { kind: 'queue', cause: 'due', dueAt: iso(100) };
  const dueSlow: ReconcileInvoker = { ...due, isSlow: true };
  const running = consentIn('RUNNING', { dueAt: iso(100) });
  const same = { extractionId: id, cause: 'due', dueAt: iso(100) };

  test('stays in the slow queue while it fails there, and comes back once it is answered', async () => {
    const failed = world({ ...running, readsSlowly: true }, down);
    await failed.reconcile(dueSlow);
    const next = failed.record()?.dueAt;
    expect(failed.sent).toEqual([['slow queue', { ...same, dueAt: next }, expect.any(Number)]]);
    expect(failed.record()).toEqual({ ...running, dueAt: next, readsSlowly: true, lastProblem: 'reset' });
    expect(failed.counted).toEqual(['ProviderReadFailed']);
    const answered = world({ ...running, readsSlowly: true });
    await answered.reconcile(dueSlow);
    expect(answered.sent).toEqual([['queue', { ...same, dueAt: next }, expect.any(Number)]]);
    expect(answered.record()).toEqual({ ...running, dueAt: next, lastProblem: 'still-running' });
  });

  test.each([machine, operator])('is not brief for %j, which hold no consumer of it', async (caller) => {
    const held = world({ ...running, readsSlowly: true }, down);
    expect(await held.reconcile(caller)).toMatchObject({ conclusion: 'deferred' });
    expect([held.reads(), held.counted]).toEqual([1, ['ProviderReadFailed']]);
  });
});

test('endless lost races end as not yet', async () => {
  const { reconcile, extractions } = world(extraction(), { now: 900 });
  const refused = vi.spyOn(extractions, 'apply');
  refused.mockResolvedValue({ applied: false, record: extraction() });
  expect(await reconcile(machine)).toMatchObject({ conclusion: 'not-yet', explanation: 'contended' });
  expect(refused.mock.calls.length).toBeLessThan(20);
});

test.each([{ schemaVersion: 2 }, { status: 'WITHDRAWN', settledAt: iso(50) }])(
  'a record of a newer version is deferred for 15 minutes, and counted: %j',
  async (fields) => {
    const before = { ...extractionIn('RUNNING'), ...fields } as unknown as Extraction;
    const { reconcile, counted } = world(before, { now: 9_999_999 });
    expect(await reconcile(swept)).toMatchObject({ record: { ...before, dueAt: iso(9_999_999 + 900) } });
    expect(counted).toEqual(['UnknownRecord']);
  },
);

test('a settled record that lacks its task is closed unread, for the operator', async () => {
  const { taskId: _lacked, ...record } = extractionIn('COMPLETED');
  const its = world(record);
  const closed = { collectionError: 'InternalError', advice: 'operator' };
  expect(await its.reconcile(swept)).toMatchObject({ conclusion: 'closed', record: closed });
  expect(its.reads()).toBe(0);
});

test('refused credentials that a delivery left are marked before the outcome is written', async () => {
  const taskStatus = 'CREDENTIALS_WRONG';
  const task = { taskId: 'task-1', extractionId: id, credentialsMac: 'mac', taskStatus, notifiedAt: iso(50) };
  const its = world(extractionIn('RUNNING'), { task });
  const { apply } = its.extractions;
  its.extractions.apply = (change) => {
    if (change.set.status === taskStatus) expect(its.marks()).toHaveLength(1);
    return apply(change);
  };
  await its.reconcile(machine);
  expect(its.record()).toMatchObject({ status: taskStatus });
  expect(its.marks()).toMatchObject([{ credentialsMac: 'mac', noticedAt: iso(50), isRefused: true }]);
});
