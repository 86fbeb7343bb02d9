import { describe, expect, test } from 'vitest';
import { applyChange } from '../../../../lib/extraction/apply-change.ts';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import {
  type Change,
  closeAfterGrace,
  closeCollected,
  closeUncollected,
  correctOutcome,
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
} from '../../../../lib/extraction/transitions.ts';
import {
  at,
  closedExtraction,
  extraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../support/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/memory-extraction-store.ts';
import { withLostAnswers } from '../../../support/with-lost-answers.ts';

const now = at(100);
const storeWith = (row: Extraction) => {
  const store = memoryExtractionStore();
  store.rows.set(row.extractionId, row);
  return store;
};

const starting = extractionIn('STARTING');
const runningRow = extractionIn('RUNNING');
const completed = extractionIn('COMPLETED');
const timedOut = extractionIn('TIMED_OUT');

/** Each kind of change, on a row that it is for. */
const changes: readonly (readonly [string, Extraction, Change])[] = [
  ['begin', extraction(), markStarting(extraction(), 'mine', now, timings)],
  ['withdraw', starting, revertToRequested(starting, 'attempt-1', timings)],
  ['run', starting, markRunning(starting, 'attempt-1', 'task-1', now, timings)],
  [
    'run over UNCONFIRMED',
    extractionIn('UNCONFIRMED'),
    markRunningLate(starting, 'attempt-1', 'task-1', now, timings),
  ],
  ['reject', starting, markRejected(starting, 'attempt-1', 'http-400', now, timings)],
  ['lose track', starting, markUnconfirmed(starting, 'attempt-1', 'unknown', 'start', now, timings)],
  ['give up starting', extraction(), markNotStarted(extraction(), 'start-abandoned', now, timings)],
  [
    'settle',
    runningRow,
    markSettled({ extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' }, 'webhook', now, timings),
  ],
  [
    'correct',
    timedOut,
    correctOutcome({ extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' }, 'webhook', now, timings),
  ],
  ['time out', runningRow, markTimedOut(runningRow, now, timings)],
  ['collected', completed, closeCollected(completed, {}, now, timings)],
  ['give up collecting', completed, closeUncollected(completed, 'too-late', now, timings)],
  ['end grace', timedOut, closeAfterGrace(timedOut, now, timings)],
  ['look again', runningRow, reschedule(runningRow, iso(500))],
];

test.each(changes)('%s that applies is done', async (_name, row, change) => {
  const store = storeWith(row);
  const outcome = await applyChange(store, change);
  expect(outcome).toEqual({ kind: 'done', record: store.rows.get(id), mine: true });
  expect(store.rows.get(id)).not.toEqual(row);
});

test.each(changes)(
  '%s whose answer was lost is recognized as done, and as mine',
  async (_name, row, change) => {
    const store = storeWith(row);
    const once = storeWith(row);
    await once.apply(change);
    const outcome = await applyChange(withLostAnswers(store), change);
    expect(outcome).toEqual({ kind: 'done', record: once.rows.get(id), mine: true });
  },
);

test.each(changes)('%s without a row is lost', async (_name, _row, change) => {
  expect(await applyChange(memoryExtractionStore(), change)).toEqual({ kind: 'lost', record: undefined });
});

describe('the write of another process does not count as an own write', () => {
  const startedBy = (attemptId: string) => extractionIn('STARTING', { attemptId });
  const closedBy = (status: 'REJECTED' | 'UNCONFIRMED', attemptId: string) =>
    extractionIn(status, { attemptId });

  test.each<readonly [string, Extraction, Change]>([
    [
      'time out, over the cap: a rival timed out without having read that',
      timedOut,
      timeOutOversized(runningRow, now, timings),
    ],
    ['begin: another attempt began', startedBy('theirs'), markStarting(extraction(), 'mine', now, timings)],
    [
      'begin: mine was declared dead before I heard of it',
      closedBy('UNCONFIRMED', 'mine'),
      markStarting(extraction(), 'mine', now, timings),
    ],
    [
      'begin: the start was abandoned',
      extractionIn('NOT_STARTED'),
      markStarting(extraction(), 'mine', now, timings),
    ],
    [
      'withdraw: another attempt is under way',
      startedBy('theirs'),
      revertToRequested(starting, 'mine', timings),
    ],
    [
      'withdraw: declared dead',
      closedBy('UNCONFIRMED', 'mine'),
      revertToRequested(starting, 'mine', timings),
    ],
    [
      'run: another attempt is under way',
      startedBy('theirs'),
      markRunning(starting, 'mine', 'task-9', now, timings),
    ],
    ['run: another task runs', runningRow, markRunning(starting, 'mine', 'task-9', now, timings)],
    [
      'reject: another attempt’s',
      closedBy('REJECTED', 'theirs'),
      markRejected(starting, 'mine', 'r', now, timings),
    ],
    [
      'lose track: another attempt’s',
      closedBy('UNCONFIRMED', 'theirs'),
      markUnconfirmed(starting, 'mine', 'r', 'start', now, timings),
    ],
    ['give up starting: it began', starting, markNotStarted(extraction(), 'r', now, timings)],
    [
      'settle: with another status',
      extractionIn('FAILED'),
      markSettled({ extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' }, 'webhook', now, timings),
    ],
    [
      'settle: timed out first',
      timedOut,
      markSettled({ extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' }, 'webhook', now, timings),
    ],
    ['time out: settled first', completed, markTimedOut(runningRow, now, timings)],
    [
      'collected: a correction came between',
      completed,
      closeCollected(extractionIn('PARTIAL'), {}, now, timings),
    ],
    [
      'give up collecting: collected first',
      closedExtraction({ status: 'COMPLETED', collectedAt: iso(50) }),
      closeUncollected(completed, 'too-late', now, timings),
    ],
    ['end grace: a correction came first', completed, closeAfterGrace(timedOut, now, timings)],
    [
      'look again: moved elsewhere',
      extractionIn('RUNNING', { dueAt: iso(1) }),
      reschedule(runningRow, iso(500)),
    ],
    ['look again: closed', closedExtraction({ status: 'COMPLETED' }), reschedule(completed, iso(500))],
  ])('%s', async (_what, current, change) => {
    expect(await applyChange(storeWith(current), change)).toEqual({ kind: 'lost', record: current });
  });
});

test('the same change twice is done, whoever wrote it first', async () => {
  const row = extractionIn('COMPLETED', { settledBy: 'reconcile' });
  const again = markSettled(
    { extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' },
    'webhook',
    now,
    timings,
  );
  expect(await applyChange(storeWith(row), again)).toEqual({ kind: 'done', record: row, mine: false });
});

const earlier = at(99);

test.each<readonly [string, Extraction, Change, Change]>([
  [
    'give up starting',
    extraction(),
    markNotStarted(extraction(), 'r', earlier, timings),
    markNotStarted(extraction(), 'r', now, timings),
  ],
  [
    'lose track',
    starting,
    markUnconfirmed(starting, 'attempt-1', 'r', 'start', now, timings),
    markUnconfirmed(starting, 'attempt-1', 'r', 'reconcile', now, timings),
  ],
  [
    'time out',
    runningRow,
    markTimedOut(runningRow, earlier, timings),
    markTimedOut(runningRow, now, timings),
  ],
  [
    'collected',
    completed,
    closeCollected(completed, {}, earlier, timings),
    closeCollected(completed, {}, now, timings),
  ],
])('%s that another process has written already is done, and not mine', async (_what, row, theirs, mine) => {
  const store = storeWith(row);
  await store.apply(theirs);
  expect(await applyChange(store, mine)).toEqual({ kind: 'done', record: store.rows.get(id), mine: false });
});

test('a task that was settled before the answer to its RUNNING write is mine', async () => {
  const change = markRunning(starting, 'attempt-1', 'task-1', now, timings);
  expect(await applyChange(storeWith(completed), change)).toEqual({
    kind: 'done',
    record: completed,
    mine: true,
  });
});

test('a store that fails is not a lost race', async () => {
  const store = memoryExtractionStore({
    before: () => {
      throw new Error('table down');
    },
  });
  await expect(applyChange(store, markStarting(extraction(), 'mine', now, timings))).rejects.toThrow(
    'table down',
  );
});
