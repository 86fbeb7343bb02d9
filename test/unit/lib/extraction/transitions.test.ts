import { describe, expect, test } from 'vitest';
import { dueShardOf } from '../../../../lib/extraction/deadlines.ts';
import {
  type Extraction,
  type ExtractionStatus,
  type TerminalStatus,
  terminalStatuses,
} from '../../../../lib/extraction/record.ts';
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
  readSlowly,
  rejectRefused,
  rememberOversized,
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
} from '../../../support/data/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/stores/memory-extraction-store.ts';

const now = at(100);
const on = (record: Extraction) => ({ record, now, timings });

const [attemptId, taskId] = ['attempt-1', 'task-1'];
/** What is reported of task-1. */
const reporting = (taskStatus: TerminalStatus, settledBy: 'webhook' | 'start' = 'webhook') => ({
  reported: { extractionId: id, taskId, taskStatus, reason: undefined, isOversized: false },
  settledBy,
  now,
  timings,
});
const nothing = { results: undefined, actionResults: undefined };
const soon = iso(100 + 120);

type Decided = ReturnType<typeof on>;
type Move = readonly [
  name: string,
  of: (on: Decided) => Change,
  from: ExtractionStatus,
  to: ExtractionStatus,
  /** The new `dueAt`; undefined if the transition closes the record. */
  dueAt: string | undefined,
];

/** Every move of the design's table, as it is made on a record: which records it is for, and what it makes of them. */
const moves: readonly Move[] = [
  // As it was: the end of the start window is after the death of the attempt and the machine's retries.
  ['markStarting', (on) => markStarting({ ...on, attemptId }), 'REQUESTED', 'STARTING', iso(900)],
  [
    'revertToRequested',
    (on) => revertToRequested({ ...on, attemptId, notBefore: undefined }),
    'STARTING',
    'REQUESTED',
    iso(900),
  ],
  // The machine's own end.
  ['markRunning', (on) => markRunning({ ...on, attemptId, taskId }), 'STARTING', 'RUNNING', iso(7_200 + 900)],
  // The machine has most likely ended: soon.
  ['markRunningLate', (on) => markRunningLate({ ...on, attemptId, taskId }), 'UNCONFIRMED', 'RUNNING', soon],
  [
    'markRejected',
    (on) => markRejected({ ...on, attemptId, reason: 'http-400' }),
    'STARTING',
    'REJECTED',
    undefined,
  ],
  [
    'markUnconfirmed',
    (on) => markUnconfirmed({ ...on, attemptId, reason: 'start-interrupted', settledBy: 'reconcile' }),
    'STARTING',
    'UNCONFIRMED',
    undefined,
  ],
  ['rejectRefused', rejectRefused, 'REQUESTED', 'REJECTED', undefined],
  ['markNotStarted', (on) => markNotStarted({ ...on, reason: 'r' }), 'REQUESTED', 'NOT_STARTED', undefined],
  [
    'disownTask',
    (on) => disownTask({ ...on, taskId, settledBy: 'reconcile' }),
    'RUNNING',
    'UNCONFIRMED',
    undefined,
  ],
  ['timeOutOversized', timeOutOversized, 'RUNNING', 'TIMED_OUT', undefined],
  ['markTimedOut', markTimedOut, 'RUNNING', 'TIMED_OUT', soon],
  ['markSettled', () => markSettled(reporting('PARTIAL')), 'RUNNING', 'PARTIAL', soon],
  ['correctOutcome', () => correctOutcome(reporting('PARTIAL')), 'TIMED_OUT', 'PARTIAL', soon],
];

/** A record with the attempt and the task of every move, so that the status alone decides. */
const recordIn = (status: ExtractionStatus) => extractionIn(status, { attemptId, taskId });

const applyTo = async (record: Extraction, change: Change) => {
  const store = memoryExtractionStore();
  store.items.set(record.extractionId, record);
  return store.apply(change);
};

// The same as expressions of DynamoDB: test/unit/lib/aws/update-expression.test.ts.
describe.each(moves)('%s', (_name, of, from, to, dueAt) => {
  test.each(allStatuses)(`on %s: only from ${from}`, async (status) => {
    const before = recordIn(status);
    expect(await applyTo(before, of(on(before)))).toMatchObject(
      from === status ? { applied: true, record: { status: to } } : { applied: false, record: before },
    );
  });

  test('sets dueAt, or closes', async () => {
    const { record } = await applyTo(recordIn(from), of(on(recordIn(from))));
    if (dueAt === undefined) {
      expect(record).not.toHaveProperty('dueShard');
      expect(record).not.toHaveProperty('dueAt');
      expect(record?.expiresAt).toBe(now.getTime() / 1000 + timings.recordRetention);
    } else {
      expect(record).toMatchObject({ dueShard: dueShardOf(id), dueAt });
      expect(record).not.toHaveProperty('expiresAt');
    }
  });
});

test.each(moves)(
  '%s writes isFinal only if no transition leads out of its status',
  async (_, of, from, to) => {
    const isLeft = Object.values(transitions).some((one) => (one.from as readonly string[]).includes(to));
    const { record } = await applyTo(recordIn(from), of(on(recordIn(from))));
    expect([to, record?.isFinal]).toEqual([to, isLeft ? undefined : true]);
  },
);

describe('a transition of one attempt does not apply to another', () => {
  const starting = extractionIn('STARTING', { attemptId: 'theirs' });
  test.each<readonly [string, Change]>([
    [
      'revertToRequested',
      revertToRequested({ record: starting, attemptId: 'mine', timings, notBefore: undefined }),
    ],
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

describe('what was decided on a record does not apply to a later one under its id', () => {
  const decided = extractionIn('RUNNING', { requestId: 'request-of-the-lost-record' });
  test.each<readonly [string, Change]>([
    ['markTimedOut', markTimedOut(on(decided))],
    ['timeOutOversized', timeOutOversized(on(decided))],
    ['rememberOversized', rememberOversized(on(decided))],
  ])('%s', async (_name, change) => {
    const later = extractionIn('RUNNING');
    expect(await applyTo(later, change)).toEqual({ applied: false, record: later });
    expect(change.proof({ ...later, oversizedAt: iso(50) })).toBe('lost');
  });
});

describe('a final status applies to its own task only', () => {
  test.each([markSettled, correctOutcome])('an extraction of another task is not settled', async (move) => {
    for (const status of ['RUNNING', 'TIMED_OUT'] as const) {
      const record = extractionIn(status, { taskId: 'task-2' });
      expect((await applyTo(record, move(reporting('COMPLETED')))).applied).toBe(false);
    }
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
    revertToRequested({ record: starting, attemptId: 'mine', timings, notBefore: undefined }),
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
    const { record } = await applyTo(extractionIn(from), move(reporting(status, 'start')));
    expect(record).toMatchObject({ status, settledAt: iso(100), settledBy: 'start' });
    expect(record).not.toHaveProperty('reason');
  }
});

test('a correction after grace reopens the record', async () => {
  const { dueShard: _dueShard, dueAt: _dueAt, ...closed } = extractionIn('TIMED_OUT', { expiresAt: 1 });
  const { record } = await applyTo(closed, correctOutcome(reporting('COMPLETED')));
  expect(record).toMatchObject({ status: 'COMPLETED', dueShard: dueShardOf(id), dueAt: iso(220) });
  expect(record).not.toHaveProperty('expiresAt');
});

describe('collecting', () => {
  test('that succeeds after it was abandoned removes the collectionError', async () => {
    const before = extractionIn('COMPLETED', { collectionError: 'gone' });
    const { record } = await applyTo(before, closeCollected({ ...on(before), ...nothing }));
    expect(record).not.toHaveProperty('collectionError');
  });

  test.each([
    ['closeCollected', (record: Extraction) => closeCollected({ ...on(record), ...nothing })],
    ['abandoned', (record: Extraction) => closeUncollected({ ...on(record), collectionError: 'x' })],
    ['ended', (record: Extraction) => closeAfterGrace(on(record))],
  ])('is not %s if status or collection changed after the decision', async (_what, of) => {
    const decidedOn = extractionIn('TIMED_OUT');
    expect((await applyTo(extractionIn('COMPLETED'), of(decidedOn))).applied).toBe(false);
    const other = extractionIn('COMPLETED', { collectedAt: iso(50) });
    expect((await applyTo(other, of(extractionIn('COMPLETED')))).applied).toBe(false);
  });
});

test('a record whose status changed meanwhile is not rescheduled, and a closed one not reopened', async () => {
  const { dueShard: _dueShard, dueAt: _dueAt, ...closed } = extractionIn('COMPLETED');
  for (const [record, current] of [
    [extractionIn('RUNNING'), extractionIn('COMPLETED', { dueAt: iso(8_100) })],
    [closed, closed],
  ] as const) {
    expect(
      (await applyTo(current, reschedule({ record, dueAt: iso(500), readsSlowly: false }))).applied,
    ).toBe(false);
  }
});

test('that a read was slow is not written to a record that has closed, or is of another request', async () => {
  const record = extractionIn('RUNNING');
  const { dueShard: _dueShard, dueAt: _dueAt, ...closed } = record;
  for (const current of [closed, { ...record, requestId: 'request-2' }]) {
    expect((await applyTo(current, readSlowly({ record }))).applied).toBe(false);
  }
});

test('a new record is due when its start window ends', () => {
  expect(dueAtWindowEnd(id, iso(0), timings)).toEqual({ dueShard: dueShardOf(id), dueAt: iso(900) });
});
