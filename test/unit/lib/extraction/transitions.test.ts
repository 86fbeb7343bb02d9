import { describe, expect, test } from 'vitest';
import { dynamoExtractionStore } from '../../../../lib/aws/dynamo-extraction-store.ts';
import { dueShardOf } from '../../../../lib/extraction/deadlines.ts';
import {
  type Extraction,
  type ExtractionStatus,
  terminalStatuses,
} from '../../../../lib/extraction/record.ts';
import type { ExtractionStore } from '../../../../lib/extraction/store.ts';
import {
  type Change,
  closeAfterGrace,
  closeCollected,
  closeUncollected,
  correctOutcome,
  disownTask,
  dueAtWindowEnd,
  markNotStarted,
  markRejected,
  markRunning,
  markRunningLate,
  markSettled,
  markStarting,
  markTimedOut,
  markUnconfirmed,
  reschedule,
  revertToRequested,
  timeOutOversized,
  transitions,
} from '../../../../lib/extraction/transitions.ts';
import {
  allStatuses,
  at,
  extraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../support/extraction-fixtures.ts';
import { interpretedDynamo } from '../../../support/interpreted-dynamo.ts';
import { memoryExtractionStore } from '../../../support/memory-extraction-store.ts';

const now = at(100);
const on = (record: Extraction) => ({ record, now, timings });

/** Every move of the design's table, as it is made on a record: which records it is for, and what it makes of them. */
const moves: readonly {
  readonly name: string;
  readonly of: (record: Extraction) => Change;
  readonly from: readonly ExtractionStatus[];
  readonly to: ExtractionStatus;
  /** The new `dueAt`; undefined if the transition closes the record. */
  readonly dueAt: string | undefined;
}[] = [
  {
    name: 'markStarting',
    of: (record) => markStarting({ ...on(record), attemptId: 'attempt-1' }),
    from: ['REQUESTED'],
    to: 'STARTING',
    // As it was: the end of the start window is after the death of the attempt and the machine's retries.
    dueAt: iso(900),
  },
  {
    name: 'disownTask',
    of: (record) => disownTask({ ...on(record), taskId: 'task-1', settledBy: 'reconcile' }),
    from: ['RUNNING'],
    to: 'UNCONFIRMED',
    dueAt: undefined,
  },
  {
    name: 'timeOutOversized',
    of: (record) => timeOutOversized(on(record)),
    from: ['RUNNING'],
    to: 'TIMED_OUT',
    dueAt: undefined,
  },
  {
    name: 'revertToRequested',
    of: (record) => revertToRequested({ record, attemptId: 'attempt-1', timings }),
    from: ['STARTING'],
    to: 'REQUESTED',
    dueAt: iso(900),
  },
  {
    name: 'markRunning',
    of: (record) => markRunning({ ...on(record), attemptId: 'attempt-1', taskId: 'task-1' }),
    from: ['STARTING'],
    to: 'RUNNING',
    // The machine's own end.
    dueAt: iso(7_200 + 900),
  },
  {
    name: 'markRunningLate',
    of: (record) => markRunningLate({ ...on(record), attemptId: 'attempt-1', taskId: 'task-1' }),
    from: ['UNCONFIRMED'],
    to: 'RUNNING',
    // The machine has most likely ended: soon.
    dueAt: iso(100 + 120),
  },
  {
    name: 'markRejected',
    of: (record) => markRejected({ ...on(record), attemptId: 'attempt-1', reason: 'http-400' }),
    from: ['STARTING'],
    to: 'REJECTED',
    dueAt: undefined,
  },
  {
    name: 'markUnconfirmed',
    of: (record) =>
      markUnconfirmed({
        ...on(record),
        attemptId: 'attempt-1',
        reason: 'start-interrupted',
        settledBy: 'reconcile',
      }),
    from: ['STARTING'],
    to: 'UNCONFIRMED',
    dueAt: undefined,
  },
  {
    name: 'markNotStarted',
    of: (record) => markNotStarted({ ...on(record), reason: 'start-abandoned' }),
    from: ['REQUESTED'],
    to: 'NOT_STARTED',
    dueAt: undefined,
  },
  {
    name: 'markSettled',
    of: () =>
      markSettled({
        reported: { extractionId: id, taskId: 'task-1', taskStatus: 'PARTIAL' },
        settledBy: 'webhook',
        now,
        timings,
      }),
    from: ['RUNNING'],
    to: 'PARTIAL',
    dueAt: iso(100 + 120),
  },
  {
    name: 'markTimedOut',
    of: (record) => markTimedOut(on(record)),
    from: ['RUNNING'],
    to: 'TIMED_OUT',
    dueAt: iso(100 + 120),
  },
  {
    name: 'correctOutcome',
    of: () =>
      correctOutcome({
        reported: { extractionId: id, taskId: 'task-1', taskStatus: 'PARTIAL' },
        settledBy: 'webhook',
        now,
        timings,
      }),
    from: ['TIMED_OUT'],
    to: 'PARTIAL',
    dueAt: iso(100 + 120),
  },
];

const stores: readonly (readonly [string, (record: Extraction) => Promise<ExtractionStore>])[] = [
  [
    'in memory',
    async (record) => {
      const store = memoryExtractionStore();
      store.items.set(record.extractionId, record);
      return store;
    },
  ],
  [
    'as DynamoDB expressions',
    async (record) => {
      const table = interpretedDynamo('extractionId');
      table.items.set(record.extractionId, record as unknown as Record<string, unknown>);
      return dynamoExtractionStore(table.client, 'T');
    },
  ],
];

describe.each(stores)('%s', (_where, storeWith) => {
  describe.each(moves)('$name', ({ of, from, to, dueAt }) => {
    test.each(allStatuses)(`on %s: only from ${from.join(' and ')}`, async (status) => {
      // Every record has the attempt and the task of the move, so that the status alone decides.
      const before = extractionIn(status, { attemptId: 'attempt-1', taskId: 'task-1' });
      const store = await storeWith(before);
      const result = await store.apply(of(before));
      if (from.includes(status)) {
        expect(result).toMatchObject({ applied: true, record: { status: to } });
      } else {
        expect(result).toEqual({ applied: false, record: before });
        expect(await store.get(id)).toEqual(before);
      }
    });

    test('sets dueAt, or closes', async () => {
      for (const status of from) {
        const before = extractionIn(status, { attemptId: 'attempt-1', taskId: 'task-1' });
        const { record } = await (await storeWith(before)).apply(of(before));
        if (dueAt === undefined) {
          expect(record).not.toHaveProperty('dueShard');
          expect(record).not.toHaveProperty('dueAt');
          expect(record?.expiresAt).toBe(now.getTime() / 1000 + timings.recordRetention);
        } else {
          expect(record).toMatchObject({ dueShard: dueShardOf(id), dueAt });
          expect(record).not.toHaveProperty('expiresAt');
        }
      }
    });
  });
});

test.each(moves)('$name writes isFinal only if no transition leads out of $to', async ({ of, from, to }) => {
  const isLeft = Object.values(transitions).some((one) => (one.from as readonly string[]).includes(to));
  for (const status of from) {
    const before = extractionIn(status, { attemptId: 'attempt-1', taskId: 'task-1' });
    const { record } = await applyTo(before, of(before));
    expect([to, record?.isFinal]).toEqual([to, isLeft ? undefined : true]);
  }
});

const applyTo = async (record: Extraction, change: Change) => {
  const store = memoryExtractionStore();
  store.items.set(record.extractionId, record);
  return store.apply(change);
};

describe('a transition of one attempt does not apply to another', () => {
  const starting = extractionIn('STARTING', { attemptId: 'theirs' });
  test.each<readonly [string, Change]>([
    ['revertToRequested', revertToRequested({ record: starting, attemptId: 'mine', timings })],
    ['markRunning', markRunning({ ...on(starting), attemptId: 'mine', taskId: 'task-1' })],
    ['markRejected', markRejected({ ...on(starting), attemptId: 'mine', reason: 'r' })],
    [
      'markUnconfirmed',
      markUnconfirmed({ ...on(starting), attemptId: 'mine', reason: 'r', settledBy: 'start' }),
    ],
  ])('%s', async (_name, change) => {
    expect(await applyTo(starting, change)).toEqual({ applied: false, record: starting });
  });

  test('UNCONFIRMED of another attempt stays', async () => {
    const record = extractionIn('UNCONFIRMED', { attemptId: 'theirs' });
    expect(
      (await applyTo(record, markRunningLate({ ...on(record), attemptId: 'mine', taskId: 'task-1' })))
        .applied,
    ).toBe(false);
  });
});

describe('a final status applies to its own task only', () => {
  test.each([markSettled, correctOutcome])('an extraction of another task is not settled', async (move) => {
    for (const status of ['RUNNING', 'TIMED_OUT'] as const) {
      const record = extractionIn(status, { taskId: 'task-2' });
      expect(
        (
          await applyTo(
            record,
            move({
              reported: { extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' },
              settledBy: 'webhook',
              now,
              timings,
            }),
          )
        ).applied,
      ).toBe(false);
    }
  });
});

test('the STARTING write sets the attempt and the time', async () => {
  expect(
    (await applyTo(extraction(), markStarting({ ...on(extraction()), attemptId: 'mine' }))).record,
  ).toMatchObject({
    attemptId: 'mine',
    startingAt: iso(100),
  });
});

test.each([
  ['leaves dueAt alone if that is after the start timeout', 900 - 60 - 120, undefined],
  ['near the end of the start window moves dueAt behind the start timeout', 900 - 60 - 119, iso(901)],
])('a STARTING write %s', (_which, seconds, dueAt) => {
  const { set } = markStarting({ record: extraction(), attemptId: 'mine', now: at(seconds), timings });
  expect(set.dueAt).toBe(dueAt);
  expect('dueShard' in set).toBe(dueAt !== undefined);
});

test('a reverted start leaves the record as it was, except for the attempt', async () => {
  const before = extraction();
  const { record: starting } = await applyTo(before, markStarting({ ...on(before), attemptId: 'mine' }));
  if (starting === undefined) throw new Error('It was not started.');
  expect(
    (await applyTo(starting, revertToRequested({ record: starting, attemptId: 'mine', timings }))).record,
  ).toEqual({
    ...before,
    attemptId: 'mine',
  });
});

test.each([
  ['the first', undefined],
  ['a later', 'attempt-0'],
])('%s STARTING write that was sent twice does not apply again after a revert', async (_which, attemptId) => {
  const before = extraction(attemptId === undefined ? {} : { attemptId });
  const write = markStarting({ ...on(before), attemptId: 'mine' });
  const { record: starting } = await applyTo(before, write);
  if (starting === undefined) throw new Error('It was not started.');
  const { record: reverted } = await applyTo(
    starting,
    revertToRequested({ record: starting, attemptId: 'mine', timings }),
  );
  if (reverted === undefined) throw new Error('It was not reverted.');
  expect(await applyTo(reverted, write)).toEqual({ applied: false, record: reverted });
  expect((await applyTo(reverted, markStarting({ ...on(reverted), attemptId: 'the next' }))).applied).toBe(
    true,
  );
});

test('a late taskId removes everything of UNCONFIRMED', async () => {
  const before = extractionIn('UNCONFIRMED');
  const { record } = await applyTo(
    before,
    markRunningLate({ ...on(before), attemptId: 'attempt-1', taskId: 'task-1' }),
  );
  for (const field of ['reason', 'settledAt', 'settledBy', 'expiresAt'])
    expect(record).not.toHaveProperty(field);
  expect(record).toMatchObject({ status: 'RUNNING', taskId: 'task-1', startedAt: iso(100) });
});

test.each(terminalStatuses)('%s is written with settledAt and settledBy', async (status) => {
  for (const [from, move] of [
    ['RUNNING', markSettled],
    ['TIMED_OUT', correctOutcome],
  ] as const) {
    const { record } = await applyTo(
      extractionIn(from),
      move({
        reported: { extractionId: id, taskId: 'task-1', taskStatus: status },
        settledBy: 'start',
        now,
        timings,
      }),
    );
    expect(record).toMatchObject({ status, settledAt: iso(100), settledBy: 'start' });
    expect(record).not.toHaveProperty('reason');
  }
});

test('a correction after grace reopens the record', async () => {
  const { dueShard: _dueShard, dueAt: _dueAt, ...closed } = extractionIn('TIMED_OUT', { expiresAt: 1 });
  const { record } = await applyTo(
    closed,
    correctOutcome({
      reported: { extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' },
      settledBy: 'webhook',
      now,
      timings,
    }),
  );
  expect(record).toMatchObject({ status: 'COMPLETED', dueShard: dueShardOf(id), dueAt: iso(220) });
  expect(record).not.toHaveProperty('expiresAt');
});

describe('collecting', () => {
  const results = { bucket: 'b', key: 'k', bytes: 1, sha256: 's' };
  const actionResults = [{ id: 'tef', status: 'COMPLETED' }];

  test('writes the results, and closes', async () => {
    const before = extractionIn('COMPLETED');
    const { record } = await applyTo(
      before,
      closeCollected({ ...on(before), found: { results, actionResults } }),
    );
    expect(record).toMatchObject({ status: 'COMPLETED', results, actionResults, collectedAt: iso(100) });
    expect(record).not.toHaveProperty('dueShard');
    expect(record?.expiresAt).toBe(now.getTime() / 1000 + timings.recordRetention);
  });

  test('that is abandoned writes a collectionError, and closes', async () => {
    const before = extractionIn('COMPLETED');
    const { record } = await applyTo(
      before,
      closeUncollected({ ...on(before), collectionError: 'results-too-large' }),
    );
    expect(record).toMatchObject({ collectionError: 'results-too-large' });
    expect(record).not.toHaveProperty('collectedAt');
    expect(record).not.toHaveProperty('dueShard');
  });

  test('that succeeds after it was abandoned removes the collectionError', async () => {
    const before = extractionIn('COMPLETED', { collectionError: 'gone' });
    const { record } = await applyTo(before, closeCollected({ ...on(before), found: {} }));
    expect(record).not.toHaveProperty('collectionError');
  });

  test.each([
    ['closeCollected', (record: Extraction) => closeCollected({ ...on(record), found: {} })],
    ['abandoned', (record: Extraction) => closeUncollected({ ...on(record), collectionError: 'x' })],
    ['ended', (record: Extraction) => closeAfterGrace(on(record))],
  ])('is not %s if status or collection changed after the decision', async (_what, of) => {
    const decidedOn = extractionIn('TIMED_OUT');
    expect((await applyTo(extractionIn('COMPLETED'), of(decidedOn))).applied).toBe(false);
    const other = extractionIn('COMPLETED', { collectedAt: iso(50) });
    expect((await applyTo(other, of(extractionIn('COMPLETED')))).applied).toBe(false);
  });
});

describe('rescheduling', () => {
  test('changes dueAt and nothing else', async () => {
    const record = extractionIn('RUNNING');
    expect((await applyTo(record, reschedule({ record, dueAt: iso(500) }))).record).toEqual({
      ...record,
      dueAt: iso(500),
    });
  });

  test.each<readonly [string, Extraction]>([
    ['it was rescheduled meanwhile', extractionIn('RUNNING', { dueAt: iso(501) })],
    ['the status changed meanwhile', extractionIn('COMPLETED', { dueAt: iso(8_100) })],
  ])('is refused if %s', async (_what, current) => {
    expect(
      (await applyTo(current, reschedule({ record: extractionIn('RUNNING'), dueAt: iso(500) }))).applied,
    ).toBe(false);
  });

  test('never reopens a closed record', async () => {
    const { dueShard: _dueShard, dueAt: _dueAt, ...closed } = extractionIn('COMPLETED');
    expect((await applyTo(closed, reschedule({ record: closed, dueAt: iso(500) }))).applied).toBe(false);
  });
});

test('a new record is due when its start window ends', () => {
  expect(dueAtWindowEnd(id, iso(0), timings)).toEqual({ dueShard: dueShardOf(id), dueAt: iso(900) });
});
