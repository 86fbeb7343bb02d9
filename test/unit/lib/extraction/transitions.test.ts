import { describe, expect, test } from 'vitest';
import { allowedTransitions, type Change } from '#lib/extraction/change.ts';
import { dueShardOf } from '#lib/extraction/due.ts';
import type { Extraction, ExtractionStatus } from '#lib/extraction/record.ts';
import * as exported from '#lib/extraction/transitions.ts';
import { writeChange } from '#lib/extraction/write-progress.ts';
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
import { withLostAnswers } from '../../../support/stores/with-lost-answers.ts';

const changes = { ...exported };
type Name = keyof typeof changes;

const now = at(100);
/** All that a change is made from. */
const decisionOn = (record: Extraction) => ({
  record,
  reported: {
    extractionId: id,
    taskId: 'task-1',
    taskStatus: 'PARTIAL' as const,
    reason: undefined,
    isOversized: false,
  },
  now,
  timings,
  attemptId: 'attempt-1',
  taskId: 'task-1',
  reason: 'r',
  settledBy: 'webhook' as 'webhook' | 'start',
  results: undefined,
  actionResults: undefined,
  collectionError: 'too-late',
  notBefore: iso(600),
  dueAt: iso(500),
  readsSlowly: false,
  found: { extractionId: id, dueAt: record.dueAt ?? '' },
  count: 1,
});
const make = (name: Name, record: Extraction, more: Partial<ReturnType<typeof decisionOn>> = {}) =>
  changes[name]({ ...decisionOn(record), ...more });

const soon = iso(100 + 120);
type Guard = 'requestId' | 'attemptId' | 'taskId';

/** Every move of the design's table, its new `dueAt`, and what must be the same as when it was decided. */
const moves: readonly (readonly [
  name: Name,
  from: ExtractionStatus,
  to: ExtractionStatus,
  /** Undefined if the transition closes the record. */
  dueAt: string | undefined,
  guards: readonly Guard[],
])[] = [
  // As it was: the end of the start window is after the death of the attempt and the machine's retries.
  ['markStarting', 'REQUESTED', 'STARTING', iso(900), ['requestId', 'attemptId']],
  ['revertToRequested', 'STARTING', 'REQUESTED', iso(900), ['attemptId']],
  // The machine's own end.
  ['markRunning', 'STARTING', 'RUNNING', iso(7_200 + 900), ['attemptId']],
  // The machine has most likely ended: soon.
  ['markRunningLate', 'UNCONFIRMED', 'RUNNING', soon, ['attemptId']],
  ['markRejected', 'STARTING', 'REJECTED', undefined, ['attemptId']],
  ['markUnconfirmed', 'STARTING', 'UNCONFIRMED', undefined, ['attemptId']],
  ['rejectRefused', 'REQUESTED', 'REJECTED', undefined, ['requestId', 'attemptId']],
  ['markNotStarted', 'REQUESTED', 'NOT_STARTED', undefined, ['requestId', 'attemptId']],
  ['disownTask', 'RUNNING', 'UNCONFIRMED', undefined, ['taskId']],
  ['timeOutOversized', 'RUNNING', 'TIMED_OUT', undefined, ['requestId', 'attemptId']],
  ['markTimedOut', 'RUNNING', 'TIMED_OUT', soon, ['requestId', 'attemptId']],
  ['markSettled', 'RUNNING', 'PARTIAL', soon, ['taskId']],
  ['correctOutcome', 'TIMED_OUT', 'PARTIAL', soon, ['taskId']],
];

const storeWith = (record: Extraction) => {
  const store = memoryExtractionStore();
  store.items.set(record.extractionId, record);
  return store;
};
const applyTo = (record: Extraction, change: Change) => storeWith(record).apply(change);

/** A change whose first answer is lost has the effect of one, and is recognized. */
const expectOwn = async (name: Name, before: Extraction) => {
  const change = make(name, before);
  const { record } = await applyTo(before, change);
  expect(record).not.toEqual(before);
  const outcome = await writeChange(withLostAnswers(storeWith(before)), change);
  expect(outcome).toEqual({ kind: 'written', record });
};

// The same as expressions of DynamoDB: test/unit/lib/aws/stores.test.ts.
describe.each(moves)('%s', (name, from, to, dueAt, guards) => {
  test(`applies only on ${from}, and to the record that it was decided on`, async () => {
    for (const status of allStatuses) {
      // With the attempt and the task of every move, so that the status alone decides.
      const before = extractionIn(status, { attemptId: 'attempt-1', taskId: 'task-1' });
      expect([status, await applyTo(before, make(name, before))]).toMatchObject([
        status,
        from === status ? { applied: true, record: { status: to } } : { applied: false, record: before },
      ]);
    }
    for (const guard of guards) {
      const record = extractionIn(from, { [guard]: 'of another' });
      expect(await writeChange(storeWith(record), make(name, extractionIn(from)))).toEqual({
        kind: 'lost',
        record,
      });
    }
  });

  test('sets dueAt, or closes, and is final only if no transition leads out of its status', async () => {
    const { record } = await applyTo(extractionIn(from), make(name, extractionIn(from)));
    const isLeft = Object.values(allowedTransitions).some((one) =>
      (one.from as readonly string[]).includes(to),
    );
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
    expectOwn(name, extractionIn(from)));
});

const starting = extractionIn('STARTING');
const running = extractionIn('RUNNING');
const completed = extractionIn('COMPLETED');
const timedOut = extractionIn('TIMED_OUT');

test.each<readonly [Name, Extraction]>([
  ['closeCollected', completed],
  ['closeUncollected', completed],
  ['closeAfterGrace', timedOut],
])('%s whose answer was lost is recognized as written by this process', expectOwn);

const theirs = { attemptId: 'theirs' };
const ofAnotherRequest = { requestId: 'request-2' };
const { dueShard: _dueShard, dueAt: _dueAt, ...closed } = running;
const { dueShard: _shard, dueAt: _due, ...closedCompleted } = completed;

test.each<readonly [Name, string, current: Extraction, decidedOn: Extraction]>([
  ['markStarting', 'another attempt has started', extractionIn('STARTING', theirs), extraction()],
  ['markStarting', 'the own start was settled as stale', extractionIn('UNCONFIRMED'), extraction()],
  ['revertToRequested', 'settled as stale', extractionIn('UNCONFIRMED'), starting],
  ['markRunning', 'another task runs', extractionIn('RUNNING', { taskId: 'task-2' }), starting],
  ['markUnconfirmed', 'of another attempt', extractionIn('UNCONFIRMED', theirs), starting],
  ['markSettled', 'timed out first', timedOut, running],
  ['timeOutOversized', 'timed out without that read', timedOut, running],
  ['rememberOversized', 'of another request', extractionIn('RUNNING', ofAnotherRequest), running],
  ['closeCollected', 'a correction came first', completed, extractionIn('PARTIAL')],
  ['closeUncollected', 'collected, and open', { ...completed, collectedAt: iso(50) }, completed],
  ['closeAfterGrace', 'a correction came first', completed, timedOut],
  ['reschedule', 'rescheduled meanwhile', { ...running, dueAt: iso(1) }, running],
  ['reschedule', 'settled meanwhile', { ...completed, dueAt: iso(8_100) }, running],
  ['reschedule', 'closed', closed, closed],
  ['closeUncollected', 'closed by another', { ...closedCompleted, collectionError: 'other' }, completed],
  ['postponeCalls', 'of another request', extraction(ofAnotherRequest), extraction()],
  ['postponeCalls', 'closed', closed, running],
  ['beginLastRead', 'closed', closed, running],
  ['beginLastRead', 'timed out meanwhile', timedOut, running],
  ['readSlowly', 'closed', closed, running],
  ['readSlowly', 'of another request', extractionIn('RUNNING', ofAnotherRequest), running],
])(
  '%s: %s: it does not apply, and does not count as an own write',
  async (name, _what, record, decidedOn) => {
    expect(await writeChange(storeWith(record), make(name, decidedOn))).toEqual({ kind: 'lost', record });
  },
);

test.each<Name>(['reschedule', 'leaseDue'])(
  '%s whose answer was lost is equal, as the record does not show who wrote it',
  async (name) => {
    const outcome = await writeChange(withLostAnswers(storeWith(running)), make(name, running));
    expect(outcome).toEqual({ kind: 'equal', record: { ...running, dueAt: iso(500) } });
  },
);

test('a STARTING write removes the notBefore of an earlier try', async () => {
  const before = extraction({ attemptId: 'attempt-0', notBefore: iso(50) });
  const { record } = await applyTo(before, make('markStarting', before));
  expect(record).not.toHaveProperty('notBefore');
});

test('a late taskId removes everything of UNCONFIRMED', async () => {
  const before = extractionIn('UNCONFIRMED');
  const { record } = await applyTo(before, make('markRunningLate', before));
  for (const field of ['reason', 'settledAt', 'settledBy', 'expiresAt'])
    expect(record).not.toHaveProperty(field);
  expect(record).toMatchObject({ status: 'RUNNING', taskId: 'task-1', startedAt: iso(100) });
});

test('collecting that succeeds after it failed or was abandoned removes why', async () => {
  const before = extractionIn('COMPLETED', { collectionError: 'gone', lastProblem: 'timeout' });
  const { record } = await applyTo(before, make('closeCollected', before));
  expect(record).not.toHaveProperty('collectionError');
  expect(record).not.toHaveProperty('lastProblem');
});
