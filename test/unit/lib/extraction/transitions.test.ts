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
  leaseDue,
  markNotStarted,
  markRejected,
  markRunning,
  markRunningLate,
  markSettled,
  markStarting,
  markTimedOut,
  markUnconfirmed,
  postponeCalls,
  readSlowly,
  rejectRefused,
  rememberOversized,
  reschedule,
  revertToRequested,
  timeOutOversized,
  transitions,
} from '../../../../lib/extraction/transitions.ts';
import { writeChange } from '../../../../lib/extraction/write-progress.ts';
import {
  allStatuses,
  at,
  closedExtraction,
  extraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../support/data/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/stores/memory-extraction-store.ts';
import { withLostAnswers } from '../../../support/stores/with-lost-answers.ts';

const now = at(100);
const on = (record: Extraction, time = now) => ({ record, now: time, timings });

const [attemptId, taskId, notBefore, readsSlowly] = ['attempt-1', 'task-1', undefined, false];
/** What is reported of task-1. */
const reporting = (taskStatus: TerminalStatus, settledBy: 'webhook' | 'start' = 'webhook') => ({
  reported: { extractionId: id, taskId, taskStatus, reason: undefined, isOversized: false },
  settledBy,
  now,
  timings,
});
const nothing = { results: undefined, actionResults: undefined };
const soon = iso(100 + 120);

type Move = readonly [
  name: string,
  of: (on: { record: Extraction; now: Date; timings: typeof timings }) => Change,
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
    (on) => revertToRequested({ ...on, attemptId, notBefore }),
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

const storeWith = (record: Extraction) => {
  const store = memoryExtractionStore();
  store.items.set(record.extractionId, record);
  return store;
};
const applyTo = (record: Extraction, change: Change) => storeWith(record).apply(change);

/** A change whose first answer is lost has the effect of one, and is recognized. */
const expectOwn = async (before: Extraction, change: Change) => {
  const { record } = await applyTo(before, change);
  expect(record).not.toEqual(before);
  const outcome = await writeChange(withLostAnswers(storeWith(before)), change);
  expect(outcome).toEqual({ kind: 'written', record });
};

// The same as expressions of DynamoDB: test/unit/lib/aws/stores.test.ts.
describe.each(moves)('%s', (_name, of, from, to, dueAt) => {
  test.each(allStatuses)(`on %s: only from ${from}`, async (status) => {
    const before = recordIn(status);
    expect(await applyTo(before, of(on(before)))).toMatchObject(
      from === status ? { applied: true, record: { status: to } } : { applied: false, record: before },
    );
  });

  test('sets dueAt, or closes, and is final only if no transition leads out of its status', async () => {
    const { record } = await applyTo(recordIn(from), of(on(recordIn(from))));
    const isLeft = Object.values(transitions).some((one) => (one.from as readonly string[]).includes(to));
    expect(record?.isFinal).toBe(isLeft ? undefined : true);
    if (dueAt === undefined) {
      expect(record).not.toHaveProperty('dueShard');
      expect(record).not.toHaveProperty('dueAt');
      expect(record?.expiresAt).toBe(now.getTime() / 1000 + timings.recordRetention);
    } else {
      expect(record).toMatchObject({ dueShard: dueShardOf(id), dueAt });
      expect(record).not.toHaveProperty('expiresAt');
    }
  });

  test('whose answer was lost is recognized as written by this process', () =>
    expectOwn(recordIn(from), of(on(recordIn(from)))));
});

const starting = extractionIn('STARTING');
const running = extractionIn('RUNNING');
const completed = extractionIn('COMPLETED');
const timedOut = extractionIn('TIMED_OUT');

test.each<readonly [string, Extraction, () => Change]>([
  ['closeCollected', completed, () => closeCollected({ ...on(completed), ...nothing })],
  ['closeUncollected', completed, () => closeUncollected({ ...on(completed), collectionError: 'too-late' })],
  ['closeAfterGrace', timedOut, () => closeAfterGrace(on(timedOut))],
])('%s whose answer was lost is recognized as written by this process', (_name, before, change) =>
  expectOwn(before, change()),
);

test('a change without a record is lost', async () => {
  const change = markStarting({ ...on(extraction()), attemptId });
  expect(await writeChange(memoryExtractionStore(), change)).toEqual({ kind: 'lost', record: undefined });
});

const mine = { ...on(starting), attemptId: 'mine' } as const;
const startMine = () => markStarting({ ...on(extraction()), attemptId: 'mine' });
const revertMine = () => revertToRequested({ ...mine, notBefore });
const runMine = () => markRunning({ ...mine, taskId: 'task-9' });
const runMineLate = () => markRunningLate({ ...mine, taskId: 'task-9' });
const rejectMine = () => markRejected({ ...mine, reason: 'r' });
const unconfirmMine = () => markUnconfirmed({ ...mine, reason: 'r', settledBy: 'start' });
const theirs = (status: 'STARTING' | 'REJECTED' | 'UNCONFIRMED') =>
  extractionIn(status, { attemptId: 'theirs' });
const staleMine = extractionIn('UNCONFIRMED', { attemptId: 'mine' });
const ofAnotherTask = (status: 'RUNNING' | 'TIMED_OUT') => extractionIn(status, { taskId: 'task-2' });
const ofAnotherRequest = extractionIn('RUNNING', { requestId: 'request-2' });
const { dueShard: _dueShard, dueAt: _dueAt, ...closed } = running;
const collect = (record: Extraction) => closeCollected({ ...on(record), ...nothing });
const collected = closedExtraction({ status: 'COMPLETED', collectedAt: iso(50) });
const abandon = () => closeUncollected({ ...on(completed), collectionError: 'too-late' });
const later = () => reschedule({ record: running, dueAt: iso(500), readsSlowly });

test.each<readonly [string, Extraction, () => Change]>([
  ['markStarting: another attempt has started', theirs('STARTING'), startMine],
  ['markStarting: the own start was settled as stale before the answer', staleMine, startMine],
  ['markStarting: the start was abandoned', extractionIn('NOT_STARTED'), startMine],
  ['revertToRequested: another attempt is in progress', theirs('STARTING'), revertMine],
  ['revertToRequested: settled as stale', staleMine, revertMine],
  ['markRunning: another attempt is in progress', theirs('STARTING'), runMine],
  ['markRunning: another task runs', running, runMine],
  ['markRunningLate: of another attempt', theirs('UNCONFIRMED'), runMineLate],
  ['markRejected: another attempt is in progress', theirs('STARTING'), rejectMine],
  ['markRejected: of another attempt', theirs('REJECTED'), rejectMine],
  ['markUnconfirmed: another attempt is in progress', theirs('STARTING'), unconfirmMine],
  ['markUnconfirmed: of another attempt', theirs('UNCONFIRMED'), unconfirmMine],
  ['markNotStarted: it has started', starting, () => markNotStarted({ ...on(extraction()), reason: 'r' })],
  ['markSettled: with another status', extractionIn('FAILED'), () => markSettled(reporting('COMPLETED'))],
  ['markSettled: timed out first', timedOut, () => markSettled(reporting('COMPLETED'))],
  ['markSettled: of another task', ofAnotherTask('RUNNING'), () => markSettled(reporting('COMPLETED'))],
  [
    'correctOutcome: of another task',
    ofAnotherTask('TIMED_OUT'),
    () => correctOutcome(reporting('COMPLETED')),
  ],
  ['markTimedOut: settled first', completed, () => markTimedOut(on(running))],
  ['markTimedOut: of another request', ofAnotherRequest, () => markTimedOut(on(running))],
  ['timeOutOversized: timed out without that read', timedOut, () => timeOutOversized(on(running))],
  ['timeOutOversized: of another request', ofAnotherRequest, () => timeOutOversized(on(running))],
  ['rememberOversized: of another request', ofAnotherRequest, () => rememberOversized(on(running))],
  ['closeCollected: a correction came first', completed, () => collect(extractionIn('PARTIAL'))],
  ['closeUncollected: collected first', collected, abandon],
  ['closeUncollected: collected, and open', { ...completed, collectedAt: iso(50) }, abandon],
  ['closeAfterGrace: a correction came first', completed, () => closeAfterGrace(on(timedOut))],
  ['reschedule: rescheduled meanwhile', { ...running, dueAt: iso(1) }, later],
  ['reschedule: settled meanwhile', { ...completed, dueAt: iso(8_100) }, later],
  ['reschedule: closed', closed, () => reschedule({ record: closed, dueAt: iso(500), readsSlowly })],
  [
    'postponeCalls: of another request',
    extraction({ requestId: 'request-2' }),
    () => postponeCalls({ record: extraction(), notBefore: iso(600) }),
  ],
  ['readSlowly: closed', closed, () => readSlowly({ record: running })],
  ['readSlowly: of another request', ofAnotherRequest, () => readSlowly({ record: running })],
])('%s: it does not apply, and does not count as an own write', async (_what, current, change) => {
  expect(await writeChange(storeWith(current), change())).toEqual({ kind: 'lost', record: current });
});

const earlier = at(99);
const unconfirmed = { ...on(starting), attemptId, reason: 'r' } as const;

test.each<readonly [string, Extraction, () => Change, () => Change]>([
  [
    'markNotStarted',
    extraction(),
    () => markNotStarted({ ...on(extraction(), earlier), reason: 'r' }),
    () => markNotStarted({ ...on(extraction()), reason: 'r' }),
  ],
  [
    'markUnconfirmed',
    starting,
    () => markUnconfirmed({ ...unconfirmed, settledBy: 'start' }),
    () => markUnconfirmed({ ...unconfirmed, settledBy: 'reconcile' }),
  ],
  [
    'closeCollected',
    completed,
    () => closeCollected({ ...on(completed, earlier), ...nothing }),
    () => collect(completed),
  ],
])('%s that another process has written already is equal', async (_what, record, byThem, own) => {
  const store = storeWith(record);
  await store.apply(byThem());
  expect(await writeChange(store, own())).toEqual({ kind: 'equal', record: store.items.get(id) });
});

test.each<readonly [string, () => Change]>([
  ['a reschedule', later],
  ["a sweep's lease", () => leaseDue({ found: { extractionId: id, dueAt: iso(8_100) }, dueAt: iso(500) })],
])('%s whose answer was lost is equal, as the record does not show who wrote it', async (_what, change) => {
  const outcome = await writeChange(withLostAnswers(storeWith(running)), change());
  expect(outcome).toEqual({ kind: 'equal', record: { ...running, dueAt: iso(500) } });
});

test('a task that was settled before the answer to its RUNNING write was written by this process', async () => {
  const change = markRunning({ ...on(starting), attemptId, taskId });
  expect(await writeChange(storeWith(completed), change)).toEqual({ kind: 'written', record: completed });
});

test.each([
  ['leaves dueAt alone if that is after the start timeout', 900 - 60 - 120, undefined],
  ['near the end of the start window moves dueAt behind the start timeout', 900 - 60 - 119, iso(901)],
])('a STARTING write %s', (_which, seconds, dueAt) => {
  const { set } = markStarting({ ...on(extraction(), at(seconds)), attemptId });
  expect(set.dueAt).toBe(dueAt);
  expect('dueShard' in set).toBe(dueAt !== undefined);
});

test.each([
  ['the first', extraction()],
  ['a later', extraction({ attemptId: 'attempt-0' })],
])('%s STARTING write that was sent twice does not apply again after a revert', async (_which, before) => {
  const store = storeWith(before);
  const write = markStarting({ ...on(before), attemptId: 'mine' });
  await store.apply(write);
  const { record: reverted = before } = await store.apply(revertMine());
  expect(await store.apply(write)).toEqual({ applied: false, record: reverted });
  const next = markStarting({ ...on(reverted), attemptId: 'the next' });
  expect(await store.apply(next)).toMatchObject({ applied: true });
});

test('a late taskId removes everything of UNCONFIRMED', async () => {
  const before = extractionIn('UNCONFIRMED');
  const { record } = await applyTo(before, markRunningLate({ ...on(before), attemptId, taskId }));
  for (const field of ['reason', 'settledAt', 'settledBy', 'expiresAt'])
    expect(record).not.toHaveProperty(field);
  expect(record).toMatchObject({ status: 'RUNNING', taskId, startedAt: iso(100) });
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
  const { dueShard: _dueShard, dueAt: _dueAt, ...ended } = extractionIn('TIMED_OUT', { expiresAt: 1 });
  const { record } = await applyTo(ended, correctOutcome(reporting('COMPLETED')));
  expect(record).toMatchObject({ status: 'COMPLETED', dueShard: dueShardOf(id), dueAt: soon });
  expect(record).not.toHaveProperty('expiresAt');
});

test('collecting that succeeds after it was abandoned removes the collectionError', async () => {
  const before = extractionIn('COMPLETED', { collectionError: 'gone' });
  const { record } = await applyTo(before, collect(before));
  expect(record).not.toHaveProperty('collectionError');
});

test('a new record is due when its start window ends', () => {
  expect(dueAtWindowEnd(id, iso(0), timings)).toEqual({ dueShard: dueShardOf(id), dueAt: iso(900) });
});
