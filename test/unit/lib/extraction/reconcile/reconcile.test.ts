import { describe, expect, test, vi } from 'vitest';
import { defined } from '../../../../../lib/defined.ts';
import type { Reading } from '../../../../../lib/extraction/plan.ts';
import { type Read, readingOfTask } from '../../../../../lib/extraction/reconcile/read-task.ts';
import {
  type ReconcileDeps,
  type ReconcileInvoker,
  reconcile,
} from '../../../../../lib/extraction/reconcile/reconcile.ts';
import type { SendReconcile } from '../../../../../lib/extraction/reconcile-message.ts';
import { type Extraction, terminalStatuses } from '../../../../../lib/extraction/record.ts';
import type { ExtractionStore, Task } from '../../../../../lib/extraction/store.ts';
import type { TaskReading } from '../../../../../lib/provider/tasks/read-task.ts';
import {
  ProviderAmbiguous,
  ProviderAnswerTooLarge,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../../../../../lib/provider/transport/errors.ts';
import {
  at,
  clock,
  closedExtraction,
  consentIn,
  extraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';
import { memoryExtractionStore } from '../../../../support/stores/memory-extraction-store.ts';
import { memoryMarks } from '../../../../support/stores/memory-refusal-store.ts';
import { memoryRequestStore, storedRequest } from '../../../../support/stores/memory-request-store.ts';
import { memoryTaskStore } from '../../../../support/stores/memory-task-store.ts';

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

const readOf = (reading: Reading, bytes?: Uint8Array): Read => ({ reading, bytes });
const tooLarge = readOf({ kind: 'too-large', taskStatus: undefined });
const bytes = Buffer.from('{"data":[]}');
const ended = { kind: 'ended', reason: undefined, actionResults: undefined, expected: true } as const;
/** Of an extraction by consent. */
const completed = readOf({ ...ended, taskStatus: 'COMPLETED', hasResults: true }, bytes);

const world = (
  record: Extraction | undefined,
  setup: {
    readonly task?: Task;
    /** One for each read, in order; the last one stays. */
    readonly reads?: readonly (TaskReading | Read | Error | 'without its request')[];
    /** An operator paused reads. */
    readonly isPaused?: boolean;
    readonly storing?: () => void;
    readonly through?: (store: ExtractionStore) => ExtractionStore;
    /** What happens while the provider is being read. */
    readonly meanwhile?: () => void | Promise<void>;
    /** A queue that refuses messages. */
    readonly refusing?: 'queue' | 'slow queue';
    readonly now?: number;
  } = {},
) => {
  const extractions = memoryExtractionStore();
  const tasks = memoryTaskStore();
  const marks = memoryMarks();
  const requests = memoryRequestStore({}, storedRequest(id));
  if (record !== undefined) extractions.items.set(id, record);
  if (setup.task !== undefined) tasks.items.set('task-1', setup.task);
  const time = clock(setup.now ?? 100);
  const { counted, progress, failures, telemetry } = memoryTelemetry();
  const stored: string[] = [];
  /** To which queue, which message, with which delay. */
  const sent: unknown[] = [];
  const sendTo =
    (queue: string): SendReconcile =>
    async (message, delaySeconds = 0) => {
      if (queue === setup.refusing) throw new Error('throttled');
      sent.push([queue, message, delaySeconds]);
    };
  let reads = 0;
  const deps: ReconcileDeps = {
    extractions: setup.through?.(extractions) ?? extractions,
    tasks,
    ...marks,
    requests,
    readCallFor: async (_record, taskId) => {
      expect(taskId).toBe('task-1');
      reads += 1;
      const answers = setup.reads ?? [answer('RUNNING')];
      const given = answers[Math.min(reads, answers.length) - 1];
      await setup.meanwhile?.();
      if (given === 'without its request') return undefined;
      return {
        tokens: { current: async () => 'token', drop: () => undefined },
        get: async () => {
          if (given === undefined || given instanceof Error) throw given;
          return 'reading' in given ? given : readingOfTask(given);
        },
      };
    },
    isPaused: async () => setup.isPaused === true,
    send: sendTo('queue'),
    sendSlow: sendTo('slow queue'),
    storeResults: async (extractionId, bytes) => {
      setup.storing?.();
      stored.push(Buffer.from(bytes).toString());
      return { bucket: 'b', key: `${extractionId}/s.json`, bytes: bytes.byteLength, sha256: 's' };
    },
    now: time.now,
    timings,
    telemetry,
  };
  return {
    reconcile: (caller: ReconcileInvoker) => reconcile(id, caller, deps),
    sent,
    record: () => extractions.items.get(id),
    task: () => tasks.items.get('task-1'),
    tasks,
    marks: () => [...marks.refusals.items.values()],
    requests,
    extractions,
    counted,
    progress,
    failures,
    stored,
    time,
    reads: () => reads,
  };
};

const isClosed = (record: Extraction | undefined): boolean =>
  record !== undefined &&
  record.dueShard === undefined &&
  record.dueAt === undefined &&
  record.expiresAt !== undefined;

describe('REQUESTED', () => {
  test.each([
    ['the machine has abandoned the start', machine, 100, 'start-abandoned'],
    ['the execution broke', broken, 100, 'start-abandoned'],
    ['the start window is over', swept, 900, 'start-window-over'],
  ])('%s: NOT_STARTED', async (_what, caller, now, reason) => {
    const { reconcile, record, counted, progress, reads } = world(extraction(), { now });
    expect(await reconcile(caller)).toMatchObject({ as: 'closed', record: { status: 'NOT_STARTED' } });
    const about = { extractionId: id, entity: 'bank', seconds: now };
    const settledFields = { settledMs: at(now).getTime() };
    const outcome = { ...about, status: 'NOT_STARTED', reason, failed: true, ...settledFields };
    expect(progress).toEqual([['Extraction ended.', outcome]]);
    expect(record()).toMatchObject({ reason, settledAt: iso(now), settledBy: 'reconcile' });
    expect(isClosed(record())).toBe(true);
    expect(counted).toEqual(['NotStarted']);
    expect(reads()).toBe(0);
  });

  test('until the start window ends, nothing is decided', async () => {
    const { reconcile, record } = world(extraction(), { now: 899.999 });
    expect(await reconcile(swept)).toMatchObject({ as: 'deferred', why: 'not-started-yet' });
    expect(record()).toEqual(extraction({ dueAt: iso(899.999 + 120) }));
  });
});

describe('STARTING', () => {
  test.each(everybody)('a start in progress is left alone, for every caller: %j', async (caller) => {
    const { reconcile, record, reads } = world(extractionIn('STARTING'), { now: 61 });
    const as = caller === machine ? 'not-yet' : 'deferred';
    expect(await reconcile(caller)).toMatchObject({ as, why: 'start-in-progress' });
    expect(record()?.status).toBe('STARTING');
    expect(reads()).toBe(0);
  });

  test.each(everybody)('a stale start is UNCONFIRMED, for every caller: %j', async (caller) => {
    const { reconcile, record, counted } = world(extractionIn('STARTING'), { now: 61.001 });
    expect(await reconcile(caller)).toMatchObject({ as: 'closed', record: { status: 'UNCONFIRMED' } });
    expect(record()).toMatchObject({ reason: 'start-interrupted', settledBy: 'reconcile' });
    expect(isClosed(record())).toBe(true);
    expect(counted).toEqual(['Unconfirmed']);
  });
});

describe('RUNNING', () => {
  const running = extractionIn('RUNNING');

  test.each(terminalStatuses)('a read of %s settles it, and collects from that very read', async (status) => {
    const { reconcile, record, counted, reads, stored } = world(running, { reads: [answer(status, full)] });
    expect(await reconcile(machine)).toMatchObject({ as: 'closed', record: { status } });
    expect(record()).toMatchObject({
      status,
      settledBy: 'reconcile',
      settledAt: iso(100),
      collectedAt: iso(100),
    });
    expect(isClosed(record())).toBe(true);
    expect(reads()).toBe(1);
    expect(stored).toEqual([JSON.stringify({ taskStatus: status, results: full })]);
    expect(counted).toEqual(['SettledByReconcile', 'WebhookMissed', 'Collected']);
  });

  test('a status that a webhook left settles it even if the provider cannot be read; on an unlinked task it counts as early', async () => {
    const { reconcile, record, requests, counted } = world(running, {
      task: { taskId: 'task-1', taskStatus: 'FAILED' },
      reads: [new ProviderUnreachable('x')],
    });
    expect(await reconcile(machine)).toMatchObject({ as: 'deferred', record: { status: 'FAILED' } });
    expect(record()).toMatchObject({ status: 'FAILED', settledAt: iso(100), dueAt: iso(105) });
    expect(record()).not.toHaveProperty('collectedAt');
    expect(requests.items.size).toBe(0);
    expect(counted).toEqual([
      'SettledByReconcile',
      'EarlyDelivery',
      'ProviderReadFailed',
      'CollectionFailed',
    ]);
  });

  test('a task that is linked costs one read, and no write', async () => {
    const { reconcile, tasks } = world(running, { task: { taskId: 'task-1', extractionId: id } });
    const adopt = vi.spyOn(tasks, 'adopt');
    await reconcile(machine);
    expect(adopt).not.toHaveBeenCalled();
  });

  test('a task that could not be adopted is not timed out', async () => {
    const { reconcile, record, tasks } = world(running, { now: 7_200 });
    vi.spyOn(tasks, 'adopt').mockRejectedValue(new Error('throttled'));
    await expect(reconcile(machine)).rejects.toThrow('throttled');
    expect(record()).toEqual(running);
  });

  test.each(['PENDING', 'RUNNING'])('%s decides nothing yet', async (status) => {
    const { reconcile, record, counted } = world(running, { reads: [answer(status)] });
    expect(await reconcile(machine)).toMatchObject({ as: 'not-yet', why: 'still-running' });
    expect(record()).toEqual(running);
    expect(counted).toEqual([]);
  });

  test('an undocumented status counts as running, and is counted', async () => {
    const { reconcile, record, counted } = world(running, { reads: [answer('PAUSED')] });
    expect(await reconcile(machine)).toMatchObject({ as: 'not-yet' });
    expect(record()).toEqual(running);
    expect(counted).toEqual(['UnknownTaskStatus']);
  });

  test.each<readonly [string, Error]>([
    ['404', new ProviderRefused('404', 404)],
    ['403', new ProviderRefused('403', 403)],
    ['401 after a relogin', new ProviderUnauthorized('401')],
    ['5xx, or nothing', new ProviderAmbiguous('503')],
    ['unreachable', new ProviderUnreachable('x')],
    // Of the task it would be a reading.
    ['a login that is answered with too much', new ProviderAnswerTooLarge('x', 200)],
  ])('a read that fails with %s decides nothing', async (_what, failure) => {
    const { reconcile, record, counted, failures } = world(running, { reads: [failure] });
    expect(await reconcile(machine)).toMatchObject({ as: 'not-yet' });
    expect(record()).toEqual(running);
    expect(counted).toEqual(['ProviderReadFailed']);
    expect(failures).toEqual(['The task could not be read.']);
  });

  test.each<readonly [string, TaskReading | Error]>([
    ['the read returns RUNNING', answer('RUNNING')],
    ['that read fails', new ProviderAmbiguous('503')],
  ])('past the deadline, it is TIMED_OUT after a last read: %s', async (_what, read) => {
    const { reconcile, record, counted, progress, reads } = world(running, { reads: [read], now: 7_200 });
    expect(await reconcile(machine)).toMatchObject({ as: 'deferred', record: { status: 'TIMED_OUT' } });
    expect(record()).toMatchObject({ reason: 'deadline-passed', settledAt: iso(7_200), dueAt: iso(7_320) });
    expect(reads()).toBe(1);
    expect(counted).toContain('TimedOut');
    expect(progress).toMatchObject([['Extraction ended.', { status: 'TIMED_OUT', seconds: 7_200 }]]);
  });

  test('a moment before the deadline, nothing is decided', async () => {
    const { reconcile } = world(running, { now: 7_199.999 });
    expect(await reconcile(machine)).toMatchObject({ as: 'not-yet' });
  });

  test('a read that fails on our side decides nothing', async () => {
    const { reconcile, record } = world(running, { reads: [new Error('Secrets Manager is down')] });
    expect(await reconcile(machine)).toMatchObject({ as: 'not-yet', why: 'InternalError' });
    expect(record()).toEqual(running);
  });
});

test.each([broken, swept, operator])('"not yet" outside the machine moves dueAt: %j', async (caller) => {
  for (const status of ['REQUESTED', 'STARTING', 'RUNNING'] as const) {
    const { reconcile, record } = world(extractionIn(status, { startingAt: iso(45) }), { now: 50 });
    const { startedAt, ...before } = record() ?? {};
    // A running task has been waited for since it started, so as long again.
    const dueAt = startedAt === undefined ? iso(50 + 120) : iso(50 + 50 - 2);
    const outcome = await reconcile(status === 'REQUESTED' ? swept : caller);
    expect(outcome).toMatchObject({ as: 'deferred', record: { dueAt } });
    expect(record()).toMatchObject({ ...before, dueAt });
  }
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
      const reads = [answer('PARTIAL', results)];
      const { reconcile, record, stored, counted, progress } = world(settled, { reads });
      expect(await reconcile(caller)).toMatchObject({ as: 'closed' });
      const body = JSON.stringify({ taskStatus: 'PARTIAL', results });
      expect(stored).toEqual([body]);
      expect(record()).toMatchObject({
        status: 'PARTIAL',
        settledBy: 'webhook',
        collectedAt: iso(100),
        results: { bucket: 'b', key: `${id}/s.json`, bytes: body.length, sha256: 's' },
        actionResults: [
          { id: 'tef', status: 'COMPLETED' },
          { id: 'movement', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
        ],
      });
      expect(JSON.stringify([record(), progress])).not.toContain('secret');
      expect(isClosed(record())).toBe(true);
      expect(counted).toEqual(['Collected']);
      const codes = { extractionId: id, entity: 'bank', status: 'PARTIAL', cause: 'TIMEOUT_ERROR' };
      const settledFields = { settledMs: at(30).getTime() };
      expect(progress).toContainEqual(['Error codes collected.', { ...codes, ...settledFields }]);
    },
  );

  test.each(['CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'] as const)(
    '%s has no results: nothing is stored, and the record is closed as collected',
    async (status) => {
      const { reconcile, record, stored, counted } = world(extractionIn(status), { reads: [answer(status)] });
      expect(await reconcile(machine)).toMatchObject({ as: 'closed' });
      expect(stored).toEqual([]);
      expect(record()).toMatchObject({ collectedAt: iso(100) });
      expect(record()).not.toHaveProperty('results');
      expect(record()).not.toHaveProperty('actionResults');
      expect(counted).toEqual(['Collected']);
    },
  );

  // The API document has null for the two CREDENTIALS_ statuses only.
  test.each([['a text'], [{ items: [] }], [null]])(
    'results of an unexpected shape are stored and counted: %j',
    async (results) => {
      const { reconcile, record, stored, counted } = world(settled, { reads: [answer('PARTIAL', results)] });
      expect(await reconcile(machine)).toMatchObject({ as: 'closed' });
      expect(stored).toHaveLength(1);
      expect(record()).toMatchObject({ collectedAt: iso(100), results: { sha256: 's' } });
      expect(record()).not.toHaveProperty('actionResults');
      expect(counted).toEqual(['UnexpectedResults', 'Collected']);
    },
  );

  test('absent results have an unexpected shape', async () => {
    const reading = {
      taskStatus: 'PARTIAL',
      results: undefined,
      bytes: Buffer.from('{"taskStatus":"PARTIAL"}'),
    };
    const { reconcile, stored, counted } = world(settled, { reads: [reading] });
    expect(await reconcile(machine)).toMatchObject({ as: 'closed' });
    expect(stored).toEqual(['{"taskStatus":"PARTIAL"}']);
    expect(counted).toEqual(['UnexpectedResults', 'Collected']);
  });

  test('a read with another final status is collected, and the disagreement is counted', async () => {
    const { reconcile, record, counted } = world(settled, { reads: [answer('COMPLETED', full)] });
    expect(await reconcile(machine)).toMatchObject({ as: 'closed' });
    expect(record()).toMatchObject({ status: 'PARTIAL', collectedAt: iso(100) });
    expect(counted).toEqual(['StatusDisagreement', 'Collected']);
  });

  test('results over the size limit are abandoned at once, because they will not become smaller', async () => {
    const { reconcile, record, counted } = world(settled, { reads: [tooLarge] });
    expect(await reconcile(machine)).toMatchObject({ as: 'closed' });
    expect(record()).toMatchObject({ status: 'PARTIAL', collectionError: 'results-too-large' });
    expect(record()).not.toHaveProperty('collectedAt');
    expect(isClosed(record())).toBe(true);
    expect(counted).toEqual(['CollectionAbandoned']);
  });

  test.each<readonly [string, NonNullable<Parameters<typeof world>[1]>, readonly string[], object]>([
    [
      'the provider is down',
      { reads: [new ProviderAmbiguous('503')] },
      ['ProviderReadFailed', 'CollectionFailed'],
      { readsSlowly: true, lastProblem: 'reset' },
    ],
    [
      'the provider returns RUNNING',
      { reads: [answer('RUNNING')] },
      ['CollectionFailed'],
      { lastProblem: 'still-running' },
    ],
    [
      'S3 is down',
      {
        reads: [answer('PARTIAL', full)],
        storing: () => {
          throw new Error('S3 is down');
        },
      },
      ['CollectionFailed'],
      { lastProblem: 'results-not-stored' },
    ],
  ])('%s: the outcome stays, and collecting is retried', async (_what, setup, metrics, more) => {
    const { reconcile, record, counted } = world(settled, setup);
    expect(await reconcile(machine)).toMatchObject({ as: 'deferred' });
    // It has waited 70 s since it was settled, so as long again.
    expect(record()).toEqual({ ...settled, dueAt: iso(170), ...more });
    expect(counted).toEqual(metrics);
  });

  test('it is retried with pauses that double, from the first poll interval to an hour', async () => {
    const { reconcile, record, time } = world(settled, { reads: [new ProviderAmbiguous('503')], now: 30 });
    const pauses: number[] = [];
    for (let tries = 0; tries < 13; tries += 1) {
      const before = time.now().getTime();
      await reconcile(slow);
      const next = new Date(record()?.dueAt ?? '').getTime();
      pauses.push((next - before) / 1000);
      time.advance((next - before) / 1000);
    }
    expect(pauses).toEqual([5, 5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600]);
  });

  test('after collectFor, collecting is abandoned with a collectionError', async () => {
    const now = 30 + 86_400;
    const { reconcile, record, counted } = world(settled, { reads: [new ProviderAmbiguous('503')], now });
    expect(await reconcile(slow)).toMatchObject({ as: 'closed' });
    expect(record()).toMatchObject({ status: 'PARTIAL', collectionError: 'ProviderAmbiguous' });
    expect(isClosed(record())).toBe(true);
    expect(counted).toEqual(['ProviderReadFailed', 'CollectionFailed', 'CollectionAbandoned']);
  });

  test("while an operator's pause holds the last read, collecting goes on, and none counts as failed", async () => {
    const now = 30 + 86_400;
    const { reconcile, record, counted, reads } = world(settled, { isPaused: true, now });
    expect(await reconcile(swept)).toMatchObject({ as: 'deferred', why: 'ProviderPaused' });
    expect(record()).toEqual({ ...settled, dueAt: iso(now + 120) });
    expect([counted, reads()]).toEqual([['ReadsHeld'], 0]);
  });
});

// The metric is counted before the write that may lose: a false alarm, where the results are there.
test('an abandonment that lost the race against a collection is not counted', async () => {
  const held = world(extractionIn('PARTIAL'), {
    reads: [tooLarge],
    meanwhile: () => {
      const closed = closedExtraction({ status: 'PARTIAL', taskId: 'task-1', collectedAt: iso(99) });
      held.extractions.items.set(id, closed);
    },
  });
  await held.reconcile(swept);
  expect(held.counted).toEqual([]);
});

test('the item of a start that was interrupted goes with the close', async () => {
  const { reconcile, record, requests } = world(extractionIn('STARTING'));
  await reconcile(broken);
  expect(record()).toMatchObject({ status: 'UNCONFIRMED', reason: 'start-interrupted' });
  expect(requests.items.size).toBe(0);
});

describe('the item of a consent', () => {
  const timedOut = consentIn('TIMED_OUT');

  test('is there for a read that ends after another has closed the record, and goes with the results', async () => {
    const closes: boolean[] = [];
    const { reconcile, record, requests, reads, time } = world(timedOut, {
      now: 7_200 + 86_400,
      reads: [completed, new ProviderAmbiguous('503'), completed],
      meanwhile: async () => {
        if (reads() > 1) return;
        await reconcile(slow);
        closes.push(isClosed(record()));
      },
      storing: () => {
        if (reads() < 3) throw new Error('S3 is down.');
      },
    });
    await reconcile(slow);
    expect(closes).toEqual([true]);
    expect(record()).toMatchObject({ status: 'COMPLETED', dueShard: expect.anything() });
    expect(requests.items.size).toBe(1);
    time.advance(60);
    await reconcile(slow);
    expect(record()).toMatchObject({ status: 'COMPLETED', collectedAt: expect.anything() });
    expect(requests.items.size).toBe(0);
  });

  test.each<readonly [string, Extraction, Error | TaskReading | 'paused', number]>([
    ['a pause', timedOut, 'paused', 7_200 + 3 * 86_400],
    ['a longer grace', timedOut, answer('RUNNING'), 7_200 + 80_000],
    [
      'a longer time for collecting',
      consentIn('COMPLETED', { settledAt: iso(80_000) }),
      new ProviderAmbiguous('503'),
      7_200 + 80_000,
    ],
    ['a longer start window', extraction(), answer('RUNNING'), 800],
  ])('outlives %s that holds the record beyond its expiry', async (_what, record, read, now) => {
    const {
      reconcile,
      record: after,
      requests,
    } = world(record, {
      ...(read === 'paused' ? { isPaused: true } : { reads: [read] }),
      now,
    });
    const expiring = (seconds: number) => ({
      ...storedRequest(id),
      expiresAt: at(seconds).getTime() / 1_000,
    });
    requests.items.set('request-1', expiring(now + 10));
    await reconcile(slow);
    const { dueAt = '' } = after() ?? {};
    expect(dueAt > iso(now)).toBe(true);
    const expiresAt = Date.parse(dueAt) / 1_000 + 86_400;
    expect([...requests.items.values()]).toEqual([{ ...storedRequest(id), expiresAt }]);
    requests.items.set('request-1', expiring(now + 300_000));
    await reconcile(slow);
    expect([...requests.items.values()]).toEqual([expiring(now + 300_000)]);
  });
});

test('a read of a consent whose item went with the close by another process is no failure', async () => {
  const { dueShard: _dueShard, dueAt: _dueAt, ...closed } = consentIn('TIMED_OUT');
  const held = world(consentIn('TIMED_OUT'), {
    reads: ['without its request'],
    now: 8_000,
    meanwhile: () => void held.extractions.items.set(id, closed),
  });
  expect(await held.reconcile(swept)).toMatchObject({ as: 'closed' });
  expect(held.counted).toEqual([]);
});

describe('TIMED_OUT', () => {
  const timedOut = extractionIn('TIMED_OUT');

  test('a task that is linked to another extraction closes the record without a read', async () => {
    const theirs = { taskId: 'task-1', extractionId: 'other', taskStatus: 'COMPLETED' };
    const { reconcile, record, reads, counted } = world(timedOut, { task: theirs, now: 8_000 });
    expect(await reconcile(swept)).toMatchObject({ as: 'closed' });
    expect(record()).toMatchObject({ status: 'TIMED_OUT', collectionError: 'task-linked-elsewhere' });
    expect(isClosed(record())).toBe(true);
    expect([reads(), counted]).toEqual([0, ['TaskLinkedElsewhere']]);
  });

  test('the pauses between reads double from two minutes, and the last read is at the end of grace', async () => {
    const { reconcile, record, time } = world(timedOut, { now: 7_200 });
    const pauses: number[] = [];
    while (record()?.dueShard !== undefined) {
      await reconcile(swept);
      const next = record()?.dueAt;
      if (next === undefined) break;
      time.set((new Date(next).getTime() - at(0).getTime()) / 1000);
      pauses.push((new Date(next).getTime() - at(7_200).getTime()) / 1000);
    }
    expect(pauses).toEqual([120, 240, 480, 960, 1_920, 3_840, 7_680, 15_360, 30_720, 61_440, 86_400]);
    expect(record()).toMatchObject({ status: 'TIMED_OUT' });
    expect(isClosed(record())).toBe(true);
  });

  test('after grace it is closed, whether the provider answered or not', async () => {
    for (const read of [answer('RUNNING'), new ProviderAmbiguous('503')]) {
      const { reconcile, record } = world(timedOut, { reads: [read], now: 7_200 + 86_400 });
      expect(await reconcile(slow)).toMatchObject({ as: 'closed', record: { status: 'TIMED_OUT' } });
      expect(isClosed(record())).toBe(true);
      expect(record()).not.toHaveProperty('collectedAt');
    }
  });

  test("while an operator's pause holds the last read, the record stays open", async () => {
    const { reconcile, record, counted } = world(timedOut, { isPaused: true, now: 7_200 + 86_400 });
    expect(await reconcile(swept)).toMatchObject({ as: 'deferred', why: 'ProviderPaused' });
    expect(record()).toEqual({ ...timedOut, dueAt: iso(7_200 + 86_400 + 120) });
    expect(counted).toEqual(['ReadsHeld']);
  });
});

describe('by consent', () => {
  const running = consentIn('RUNNING');
  const failed = readOf({ ...ended, taskStatus: 'FAILED', reason: 'ENTITY/DOWN', hasResults: false });

  test('a success is settled and collected from one read, and no webhook counts as missed', async () => {
    const { reconcile, record, stored, reads, counted } = world(running, { reads: [completed] });
    expect(await reconcile(machine)).toMatchObject({ as: 'closed' });
    expect(record()).toMatchObject({ status: 'COMPLETED', settledBy: 'reconcile', collectedAt: iso(100) });
    expect(record()).not.toHaveProperty('actionResults');
    expect(record()).not.toHaveProperty('reason');
    expect([stored, reads()]).toEqual([['{"data":[]}'], 1]);
    expect(counted).toEqual(['SettledByReconcile', 'Collected']);
  });

  test('a failure is settled with its reason, and nothing is stored', async () => {
    const { reconcile, record, stored } = world(running, { reads: [failed] });
    expect(await reconcile(machine)).toMatchObject({ as: 'closed' });
    expect(record()).toMatchObject({ status: 'FAILED', reason: 'ENTITY/DOWN', collectedAt: iso(100) });
    expect(record()).not.toHaveProperty('results');
    expect(stored).toEqual([]);
    expect(isClosed(record())).toBe(true);
  });

  test.each(everybody)(
    'is read with its record and has no entry in Tasks, for every caller: %j',
    async (caller) => {
      const { reconcile, record } = world(running, {
        task: { taskId: 'task-1', taskStatus: 'CREDENTIALS_WRONG' },
        reads: [readOf({ kind: 'running', known: true })],
      });
      // By the machine, too: it would pay a transition for each poll.
      expect(await reconcile(caller)).toMatchObject({ as: 'deferred', why: 'still-running' });
      expect(record()).toMatchObject({ status: 'RUNNING', dueAt: expect.any(String) });
    },
  );
});

describe('without webhooks', () => {
  const running = extractionIn('RUNNING', { withoutWebhook: true, dueAt: iso(100) });
  const task = { taskId: 'task-1', extractionId: id };

  test.each(everybody)('a v2 task is polled by the queue, for every caller: %j', async (caller) => {
    const { reconcile } = world(running, { task });
    expect(await reconcile(caller)).toMatchObject({ as: 'deferred', why: 'still-running' });
  });

  test('no webhook counts as missed, and a task of another extraction is still disowned', async () => {
    const ended = world(running, { task, reads: [answer('COMPLETED', full)] });
    await ended.reconcile(swept);
    expect(ended.counted).toEqual(['SettledByReconcile', 'Collected']);
    const others = world(running, { task: { taskId: 'task-1', extractionId: 'another' } });
    await others.reconcile(swept);
    expect(others.record()).toMatchObject({ status: 'UNCONFIRMED', reason: 'task-linked-elsewhere' });
  });
});

describe('an answer over the size limit', () => {
  const tooLargeButDone = readOf({ kind: 'too-large', taskStatus: 'COMPLETED' });
  const saidOnce = { collectionError: 'results-too-large', oversizedAt: iso(100) };

  test('by consent is final: settled, abandoned and closed after one read', async () => {
    const { reconcile, record, reads, stored, counted } = world(consentIn('RUNNING'), {
      reads: [tooLargeButDone],
    });
    expect(await reconcile(machine)).toMatchObject({ as: 'closed', record: { status: 'COMPLETED' } });
    expect(record()).toMatchObject({ ...saidOnce, settledBy: 'reconcile', settledAt: iso(100) });
    expect(isClosed(record())).toBe(true);
    expect([reads(), stored]).toEqual([1, []]);
    expect(counted).toEqual(['SettledByReconcile', 'CollectionAbandoned']);
  });

  test('by consent is not read again if the record is settled and not abandoned yet', async () => {
    let writes = 0;
    const { reconcile, record, reads } = world(consentIn('RUNNING'), {
      reads: [tooLargeButDone],
      through: (store) => ({
        ...store,
        apply: async (change) => {
          writes += 1;
          if (writes === 2) throw new Error('throttled');
          return store.apply(change);
        },
      }),
    });
    await expect(reconcile(machine)).rejects.toThrow('throttled');
    expect(record()).toMatchObject({ status: 'COMPLETED', oversizedAt: iso(100) });
    expect(await reconcile(swept)).toMatchObject({ as: 'closed' });
    expect(record()).toMatchObject(saidOnce);
    expect(reads()).toBe(1);
  });

  test.each([
    ['remembered', { oversizedAt: iso(100) }, 0],
    ['read past the deadline', {}, 1],
  ])(
    'that is %s ends as TIMED_OUT with a collectionError, closed without grace',
    async (_what, known, asked) => {
      const { reconcile, record, reads, counted } = world(extractionIn('RUNNING', known), {
        reads: [tooLarge],
        now: 7_200,
      });
      expect(await reconcile(machine)).toMatchObject({ as: 'closed', record: { status: 'TIMED_OUT' } });
      expect(record()).toMatchObject({ reason: 'deadline-passed', collectionError: 'results-too-large' });
      expect(isClosed(record())).toBe(true);
      expect(reads()).toBe(asked);
      expect(counted).toEqual(['TimedOut', 'CollectionAbandoned']);
    },
  );

  test('in grace closes the record', async () => {
    const { reconcile, record } = world(extractionIn('TIMED_OUT'), { reads: [tooLarge], now: 8_000 });
    expect(await reconcile(swept)).toMatchObject({ as: 'closed' });
    expect(record()).toMatchObject({
      status: 'TIMED_OUT',
      collectionError: 'results-too-large',
      oversizedAt: iso(8_000),
    });
    expect(isClosed(record())).toBe(true);
  });
});

describe('a closed record', () => {
  test.each<readonly [string, Extraction]>([
    ['REJECTED', extractionIn('REJECTED')],
    ['UNCONFIRMED', extractionIn('UNCONFIRMED')],
    ['NOT_STARTED', extractionIn('NOT_STARTED')],
    ['collected', closedExtraction({ status: 'COMPLETED', taskId: 'task-1', collectedAt: iso(40) })],
    ['abandoned collecting', closedExtraction({ status: 'FAILED', taskId: 'task-1', collectionError: 'x' })],
    ['out of grace', closedExtraction({ status: 'TIMED_OUT', taskId: 'task-1' })],
  ])('%s: stays closed, and the provider is not read', async (_what, record) => {
    for (const caller of everybody) {
      const { reconcile, record: recordNow, reads, counted } = world(record, { now: 99_999 });
      expect(await reconcile(caller)).toEqual({ as: 'closed', record });
      expect(recordNow()).toEqual(record);
      expect([reads(), counted]).toEqual([0, []]);
    }
  });

  test('without a record, every caller gets the result gone', async () => {
    for (const caller of everybody) {
      expect(await world(undefined).reconcile(caller)).toEqual({ as: 'gone' });
    }
  });
});

describe('why the last try brought nothing, and what to do next', () => {
  const http = (status: number, errorType?: string) =>
    Object.assign(
      new ProviderAmbiguous('', { status }),
      errorType === undefined ? {} : { named: { errorType } },
    );
  const past = timings.deadline;

  test.each<[string, Extraction, Parameters<typeof world>[1], ReconcileInvoker, string | undefined]>([
    ['the last read failed', extractionIn('RUNNING'), { reads: [http(500)] }, machine, 'http-500'],
    [
      'it named its error',
      consentIn('RUNNING'),
      { reads: [http(500, 'INTERNAL')] },
      slow,
      'http-500/INTERNAL',
    ],
    ['the task still runs', extractionIn('RUNNING'), {}, machine, 'still-running'],
    ['no read was ever made', consentIn('RUNNING'), { isPaused: true }, slow, 'never-read'],
    ['nobody knows', extractionIn('RUNNING'), { isPaused: true }, machine, undefined],
    [
      'an earlier read is the last one',
      consentIn('RUNNING', { lastProblem: 'http-503' }),
      { isPaused: true },
      slow,
      'http-503',
    ],
  ])('TIMED_OUT has what the last read showed: %s', async (_what, record, setup, caller, lastProblem) => {
    const { reconcile, ...timedOut } = world(record, { ...setup, now: past });
    await reconcile(caller);
    expect(timedOut.record()).toMatchObject({ status: 'TIMED_OUT', advice: 'wait' });
    expect(timedOut.record()?.lastProblem).toBe(lastProblem);
  });

  test('after grace it is the provider who is to be asked', async () => {
    const { reconcile, record } = world(extractionIn('TIMED_OUT', { advice: 'wait' }), {
      reads: [http(502)],
      now: past + timings.grace,
    });
    await reconcile(slow);
    expect(record()).toMatchObject({ lastProblem: 'http-502', advice: 'ask-provider' });
  });

  test.each<[string, Partial<Extraction>, ReconcileInvoker, object]>([
    [
      'the machine',
      {},
      { ...machine, lastProblem: 'secret-not-filled' },
      { lastProblem: 'secret-not-filled', advice: 'operator' },
    ],
    [
      'the machine, later than the record',
      { lastProblem: 'http-429' },
      { ...machine, lastProblem: 'held/http-503' },
      { lastProblem: 'held/http-503', advice: 'request-later' },
    ],
    [
      'the record',
      { lastProblem: 'quota-reached' },
      swept,
      { lastProblem: 'quota-reached', advice: 'request-later' },
    ],
    ['nobody', {}, swept, { advice: 'request-again' }],
  ])('NOT_STARTED has what is known from %s', async (_who, fields, caller, expected) => {
    const { reconcile, record } = world(extractionIn('REQUESTED', fields as never), { now: 900 });
    await reconcile(caller);
    const { lastProblem, advice, reason } = record() ?? {};
    expect({ lastProblem, advice, reason }).toEqual({
      lastProblem: undefined,
      ...expected,
      reason: 'start-window-over',
    });
  });

  test('a correction withdraws both, and the collected results bring the advice', async () => {
    const timedOut = extractionIn('TIMED_OUT', { advice: 'wait', lastProblem: 'still-running' });
    const { reconcile, record } = world(timedOut, {
      reads: [
        answer('FAILED', { actions: [{ id: 'tef', status: 'FAILED', error: { code: 'ENTITY_API_ERROR' } }] }),
      ],
      storing: () => {
        const { status, advice, lastProblem } = record() ?? {};
        expect({ status, advice, lastProblem }).toEqual({ status: 'FAILED' });
      },
    });
    await reconcile(machine);
    expect(record()).toMatchObject({ status: 'FAILED', advice: 'request-later' });
  });
});

describe('the next message', () => {
  const due: ReconcileInvoker = { kind: 'queue', cause: 'due' };

  test('is delayed until dueAt, in whole seconds', async () => {
    const { reconcile, sent } = world(consentIn('RUNNING', { startedAt: iso(92.5), dueAt: iso(100) }));
    expect(await reconcile(due)).toMatchObject({ as: 'deferred' });
    expect(sent).toEqual([['queue', { extractionId: id, cause: 'due', dueAt: iso(107.5) }, 8]]);
  });

  test('is not sent for a pause that is longer than a message can wait', async () => {
    const settled = extractionIn('PARTIAL', { settledAt: iso(0) });
    const held = world(settled, { reads: [new ProviderAmbiguous('503')], now: 901 });
    expect(await held.reconcile(slow)).toMatchObject({ record: { dueAt: iso(1_802) } });
    expect(held.sent).toEqual([]);
    expect(held.counted).toContain('CollectionDeferred');
  });

  test('that the queue refuses is left to the sweep', async () => {
    const held = world(consentIn('RUNNING', { dueAt: iso(100) }), { refusing: 'queue' });
    expect(await held.reconcile(due)).toMatchObject({ as: 'deferred' });
    expect(held.failures).toEqual(['The next reconcile was left to the sweep.']);
  });

  test('reads although dueAt has moved, once that has passed', async () => {
    const held = world(consentIn('RUNNING', { dueAt: iso(100) }));
    expect(await held.reconcile({ ...due, dueAt: iso(95) })).toMatchObject({ as: 'deferred' });
    expect(held.reads()).toBe(1);
  });
});

describe('a read in the reconcile queue', () => {
  const due: ReconcileInvoker = { kind: 'queue', cause: 'due', dueAt: iso(100) };
  const dueSlow: ReconcileInvoker = { ...due, isSlow: true };
  const running = consentIn('RUNNING', { dueAt: iso(100) });
  const failing = { reads: [new ProviderAmbiguous('503')] };
  const same = { extractionId: id, cause: 'due', dueAt: iso(100) };

  test('that fails is left to the slow queue, with the same message, and does not count as failed', async () => {
    const held = world(running, failing);
    expect(await held.reconcile(due)).toMatchObject({ as: 'moved' });
    expect(held.sent).toEqual([['slow queue', same, 0]]);
    expect(held.record()).toEqual({ ...running, readsSlowly: true });
    expect([held.counted, held.failures]).toEqual([[], ['The task could not be read.']]);
    const collecting = world(consentIn('COMPLETED'), failing);
    await collecting.reconcile(swept);
    expect(collecting.sent).toEqual([['slow queue', { extractionId: id, cause: 'sweep' }, 0]]);
  });

  test('is left to the slow queue also if the record cannot be written', async () => {
    const held = world(running, {
      ...failing,
      through: (store) => ({ ...store, apply: () => Promise.reject(new Error('throttled')) }),
    });
    expect(await held.reconcile(due)).toMatchObject({ as: 'moved' });
  });

  test('is not made if the last one was slow, for each sender of the message', async () => {
    const held = world({ ...running, readsSlowly: true });
    await held.reconcile(due);
    expect([held.sent, held.reads()]).toEqual([[['slow queue', same, 0]], 0]);
  });

  test('that the slow queue refuses is received again', async () => {
    const held = world(running, { ...failing, refusing: 'slow queue' });
    await expect(held.reconcile(due)).rejects.toThrow('throttled');
  });

  test('stays in the slow queue while it fails there, and comes back once it is answered', async () => {
    const failed = world({ ...running, readsSlowly: true }, failing);
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

  test('that is held by an operator stays in its queue', async () => {
    for (const [caller, record, queue] of [
      [due, running, 'queue'],
      [dueSlow, { ...running, readsSlowly: true }, 'slow queue'],
    ] as const) {
      const held = world(record, { isPaused: true });
      await held.reconcile(caller);
      expect(held.sent).toEqual([[queue, expect.objectContaining({ cause: 'due' }), 98]]);
      expect(held.record()).toEqual({ ...record, dueAt: held.record()?.dueAt });
    }
  });

  test('that is the last one is made again in the slow queue, and its failure closes there', async () => {
    const now = 30 + timings.collectFor;
    const settled = consentIn('COMPLETED', { settledAt: iso(30), dueAt: iso(100) });
    const moved = world(settled, { ...failing, now });
    expect(await moved.reconcile(due)).toMatchObject({ as: 'moved' });
    const last = world({ ...settled, readsSlowly: true }, { ...failing, now });
    expect(await last.reconcile(dueSlow)).toMatchObject({ as: 'closed' });
    expect(last.record()).toMatchObject({ status: 'COMPLETED', collectionError: 'ProviderAmbiguous' });
    expect([isClosed(last.record()), last.record()?.readsSlowly, last.reads()]).toEqual([true, undefined, 1]);
  });

  test.each([machine, operator])('is not brief for %j, which hold no consumer of it', async (caller) => {
    const held = world({ ...running, readsSlowly: true }, failing);
    expect(await held.reconcile(caller)).toMatchObject({ as: 'deferred' });
    expect([held.reads(), held.counted]).toEqual([1, ['ProviderReadFailed']]);
  });
});

test('endless lost races end as not yet', async () => {
  let flips = 0;
  const { reconcile } = world(extraction(), {
    now: 900,
    through: (store) => ({
      ...store,
      apply: async () => {
        flips += 1;
        return { applied: false, record: extraction({ dueAt: iso(flips) }) };
      },
    }),
  });
  expect(await reconcile(machine)).toMatchObject({ as: 'not-yet', why: 'contended' });
  expect(flips).toBeLessThan(20);
});

describe('a record of a newer version', () => {
  const newer = [
    ['an open status', { status: 'HELD' }],
    ['an outcome', { status: 'WITHDRAWN', settledAt: iso(50) }],
    ['a schemaVersion', { schemaVersion: 2 }],
  ] as const;

  test.each(newer)(
    'with %s that is unknown is deferred for 15 minutes, for every caller',
    async (_what, fields) => {
      for (const caller of everybody) {
        const record = { ...extractionIn('RUNNING'), ...fields } as unknown as Extraction;
        const { reconcile, record: after, reads, counted } = world(record, { now: 9_999_999 });
        const result = await reconcile(caller);
        const next = iso(9_999_999 + 900);
        expect(result).toMatchObject({ as: 'deferred', why: 'unknown-record' });
        expect(after()).toEqual({ ...record, dueAt: next });
        expect([reads(), counted]).toEqual([0, ['UnknownRecord']]);
      }
    },
  );
});

describe('a task whose reads end their process', () => {
  const unfinishedReads = { count: 3, lastBegunAt: iso(-1_000) };

  test('is not yet read, and is closed after grace with its own error', async () => {
    const running = world(extractionIn('RUNNING', { unfinishedReads }));
    expect(await running.reconcile(machine)).toMatchObject({ as: 'not-yet', why: 'read-ends-process' });
    expect(running.counted).toEqual(['ReadEndsProcess']);
    const timedOut = extractionIn('TIMED_OUT', { settledAt: iso(100), unfinishedReads });
    const after = world(timedOut, { now: 100 + timings.grace });
    await after.reconcile(swept);
    expect(after.record()).toMatchObject({ status: 'TIMED_OUT', collectionError: 'read-ends-process' });
    expect(after.record()?.dueShard).toBeUndefined();
  });

  test('is closed without its results once collectFor is over, and not before', async () => {
    const settled = extractionIn('COMPLETED', { settledAt: iso(100), unfinishedReads });
    const before = world(settled, { now: 99 + timings.collectFor });
    await before.reconcile(swept);
    expect(before.record()?.dueShard).toBeDefined();
    const after = world(settled, { now: 100 + timings.collectFor });
    await after.reconcile(swept);
    expect(after.record()).toMatchObject({ status: 'COMPLETED', collectionError: 'read-ends-process' });
  });
});

describe('credentials that the bank refused', () => {
  const refused = 'CREDENTIALS_WRONG';
  const task: Task = { taskId: 'task-1', extractionId: id, credentialsMac: 'mac' };

  test.each([
    ['that a read shows', { task, reads: [answer(refused)] }, iso(100)],
    ['that a delivery left', { task: { ...task, taskStatus: refused, notifiedAt: iso(50) } }, iso(50)],
  ])('%s are marked before the outcome is written', async (_, setup, noticedAt) => {
    let marksAtWrite = 0;
    const its = world(extractionIn('RUNNING'), {
      ...setup,
      through: (store) => ({
        ...store,
        apply: (change) => {
          if (change.set.status === refused) marksAtWrite = its.marks().length;
          return store.apply(change);
        },
      }),
    });
    await its.reconcile(machine);
    expect(its.record()).toMatchObject({ status: refused });
    expect(marksAtWrite).toBe(1);
    expect(its.marks()).toMatchObject([{ credentialsMac: 'mac', noticedAt, isRefused: true }]);
    expect(its.task()).toMatchObject({ noticedAt });
  });

  test('are not marked of a task that was adopted, or that belongs to another extraction', async () => {
    for (const given of [undefined, { ...task, extractionId: 'another', taskStatus: refused }]) {
      const { reconcile: reconcileIt, marks } = world(extractionIn('RUNNING'), {
        ...defined({ task: given }),
        reads: [answer(refused)],
      });
      await reconcileIt(machine);
      expect(marks()).toEqual([]);
    }
  });

  test('count no longer once confirmed ones were accepted', async () => {
    const { reconcile: reconcileIt, marks } = world(extractionIn('RUNNING'), {
      task: { ...task, isConfirmed: true },
      reads: [answer('COMPLETED', full)],
    });
    await reconcileIt(machine);
    expect(marks()).toMatchObject([{ credentialsMac: 'mac', isRefused: false }]);
  });
});
