import { describe, expect, test } from 'vitest';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import {
  type Change,
  closeAfterGrace,
  closeCollected,
  closeUncollected,
  correctOutcome,
  leaseDue,
  markNotStarted,
  markRejected,
  markRunning,
  markRunningLate,
  markSettled,
  markStarting,
  markTimedOut,
  markUnconfirmed,
  rejectRefused,
  reschedule,
  revertToRequested,
  timeOutOversized,
} from '../../../../lib/extraction/transitions.ts';
import { writeChange } from '../../../../lib/extraction/write-progress.ts';
import {
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
const storeWith = (record: Extraction) => {
  const store = memoryExtractionStore();
  store.items.set(record.extractionId, record);
  return store;
};

const unexplained = { reason: undefined, isOversized: false };
const reported = { extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED', ...unexplained } as const;
const completing = { reported, settledBy: 'webhook', now, timings } as const;
const nothing = { results: undefined, actionResults: undefined };
const [notBefore, readsSlowly] = [undefined, false];
const starting = extractionIn('STARTING');
const fresh = { ...on(extraction()), attemptId: 'mine' } as const;
const mine = { ...on(starting), attemptId: 'mine' } as const;
const first = { ...on(starting), attemptId: 'attempt-1' } as const;
const runningRecord = extractionIn('RUNNING');
const completed = extractionIn('COMPLETED');
const timedOut = extractionIn('TIMED_OUT');

/** Each kind of change, on a record that it is for. */
const changes: readonly (readonly [string, Extraction, Change])[] = [
  ['markStarting', extraction(), markStarting(fresh)],
  ['revertToRequested', starting, revertToRequested({ ...first, notBefore })],
  ['markRunning', starting, markRunning({ ...first, taskId: 'task-1' })],
  ['markRunningLate', extractionIn('UNCONFIRMED'), markRunningLate({ ...first, taskId: 'task-1' })],
  ['rejectRefused', extraction(), rejectRefused(on(extraction()))],
  ['markRejected', starting, markRejected({ ...first, reason: 'http-400' })],
  ['markUnconfirmed', starting, markUnconfirmed({ ...first, reason: 'unknown', settledBy: 'start' })],
  ['markNotStarted', extraction(), markNotStarted({ ...on(extraction()), reason: 'start-abandoned' })],
  ['markSettled', runningRecord, markSettled(completing)],
  ['correctOutcome', timedOut, correctOutcome(completing)],
  ['markTimedOut', runningRecord, markTimedOut(on(runningRecord))],
  ['closeCollected', completed, closeCollected({ ...on(completed), ...nothing })],
  ['closeUncollected', completed, closeUncollected({ ...on(completed), collectionError: 'too-late' })],
  ['closeAfterGrace', timedOut, closeAfterGrace(on(timedOut))],
];

test.each(changes)(
  '%s whose answer was lost is recognized as written by this process',
  async (_name, record, change) => {
    const store = storeWith(record);
    const once = storeWith(record);
    await once.apply(change);
    expect(once.items.get(id)).not.toEqual(record);
    const outcome = await writeChange(withLostAnswers(store), change);
    expect(outcome).toEqual({ kind: 'written', record: once.items.get(id) });
  },
);

test.each(changes)('%s without a record is lost', async (_name, _row, change) => {
  expect(await writeChange(memoryExtractionStore(), change)).toEqual({ kind: 'lost', record: undefined });
});

describe('the write of another process does not count as an own write', () => {
  const startedBy = (attemptId: string) => extractionIn('STARTING', { attemptId });
  const closedBy = (status: 'REJECTED' | 'UNCONFIRMED', attemptId: string) =>
    extractionIn(status, { attemptId });

  test.each<readonly [string, Extraction, Change]>([
    [
      'timeOutOversized: another process timed out without that read',
      timedOut,
      timeOutOversized(on(runningRecord)),
    ],
    ['markStarting: another attempt has started', startedBy('theirs'), markStarting(fresh)],
    [
      'markStarting: the own start was settled as stale before the answer',
      closedBy('UNCONFIRMED', 'mine'),
      markStarting(fresh),
    ],
    ['markStarting: the start was abandoned', extractionIn('NOT_STARTED'), markStarting(fresh)],
    [
      'revertToRequested: another attempt is in progress',
      startedBy('theirs'),
      revertToRequested({ ...mine, notBefore }),
    ],
    [
      'revertToRequested: settled as stale',
      closedBy('UNCONFIRMED', 'mine'),
      revertToRequested({ ...mine, notBefore }),
    ],
    [
      'markRunning: another attempt is in progress',
      startedBy('theirs'),
      markRunning({ ...mine, taskId: 'task-9' }),
    ],
    ['markRunning: another task runs', runningRecord, markRunning({ ...mine, taskId: 'task-9' })],
    [
      'markRejected: of another attempt',
      closedBy('REJECTED', 'theirs'),
      markRejected({ ...mine, reason: 'r' }),
    ],
    [
      'markUnconfirmed: of another attempt',
      closedBy('UNCONFIRMED', 'theirs'),
      markUnconfirmed({ ...mine, reason: 'r', settledBy: 'start' }),
    ],
    ['markNotStarted: it has started', starting, markNotStarted({ ...on(extraction()), reason: 'r' })],
    ['markSettled: with another status', extractionIn('FAILED'), markSettled(completing)],
    ['markSettled: timed out first', timedOut, markSettled(completing)],
    ['markTimedOut: settled first', completed, markTimedOut(on(runningRecord))],
    [
      'closeCollected: a correction came first',
      completed,
      closeCollected({ ...on(extractionIn('PARTIAL')), ...nothing }),
    ],
    [
      'closeUncollected: collected first',
      closedExtraction({ status: 'COMPLETED', collectedAt: iso(50) }),
      closeUncollected({ ...on(completed), collectionError: 'too-late' }),
    ],
    ['closeAfterGrace: a correction came first', completed, closeAfterGrace(on(timedOut))],
    [
      'reschedule: rescheduled meanwhile',
      extractionIn('RUNNING', { dueAt: iso(1) }),
      reschedule({ record: runningRecord, dueAt: iso(500), readsSlowly }),
    ],
    [
      'reschedule: closed',
      closedExtraction({ status: 'COMPLETED' }),
      reschedule({ record: completed, dueAt: iso(500), readsSlowly }),
    ],
  ])('%s', async (_what, current, change) => {
    expect(await writeChange(storeWith(current), change)).toEqual({ kind: 'lost', record: current });
  });
});

test('an outcome that another process has written already is equal', async () => {
  const record = extractionIn('COMPLETED', { settledBy: 'reconcile' });
  const again = markSettled(completing);
  expect(await writeChange(storeWith(record), again)).toEqual({ kind: 'equal', record });
});

const earlier = at(99);

test.each<readonly [string, Extraction, Change, Change]>([
  [
    'markNotStarted',
    extraction(),
    markNotStarted({ ...on(extraction(), earlier), reason: 'r' }),
    markNotStarted({ ...on(extraction()), reason: 'r' }),
  ],
  [
    'markUnconfirmed',
    starting,
    markUnconfirmed({ ...first, reason: 'r', settledBy: 'start' }),
    markUnconfirmed({ ...first, reason: 'r', settledBy: 'reconcile' }),
  ],
  ['markTimedOut', runningRecord, markTimedOut(on(runningRecord, earlier)), markTimedOut(on(runningRecord))],
  [
    'closeCollected',
    completed,
    closeCollected({ ...on(completed, earlier), ...nothing }),
    closeCollected({ ...on(completed), ...nothing }),
  ],
])('%s that another process has written already is equal', async (_what, record, theirs, own) => {
  const store = storeWith(record);
  await store.apply(theirs);
  expect(await writeChange(store, own)).toEqual({ kind: 'equal', record: store.items.get(id) });
});

test.each([
  ['a reschedule', reschedule({ record: runningRecord, dueAt: iso(500), readsSlowly })],
  ["a sweep's lease", leaseDue({ found: { extractionId: id, dueAt: iso(8_100) }, dueAt: iso(500) })],
])('%s whose answer was lost is equal, as the record does not show who wrote it', async (_what, change) => {
  const store = storeWith(runningRecord);
  expect(await writeChange(withLostAnswers(store), change)).toEqual({
    kind: 'equal',
    record: { ...runningRecord, dueAt: iso(500) },
  });
});

test('a task that was settled before the answer to its RUNNING write was written by this process', async () => {
  const change = markRunning({ ...first, taskId: 'task-1' });
  expect(await writeChange(storeWith(completed), change)).toEqual({
    kind: 'written',
    record: completed,
  });
});

test('a store that fails is not a lost race', async () => {
  const store = memoryExtractionStore({
    before: () => {
      throw new Error('table down');
    },
  });
  await expect(writeChange(store, markStarting(fresh))).rejects.toThrow('table down');
});
