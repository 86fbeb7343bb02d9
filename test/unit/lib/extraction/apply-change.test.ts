import { describe, expect, test } from 'vitest';
import { applyChange } from '../../../../lib/extraction/apply-change.ts';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import {
  begin,
  type Change,
  collected,
  correct,
  endGrace,
  giveUpCollecting,
  giveUpStarting,
  lookAgain,
  loseTrack,
  reject,
  run,
  runLate,
  settle,
  timeOut,
  timeOutOversized,
  withdraw,
} from '../../../../lib/extraction/transitions.ts';
import { memoryExtractionStore } from '../../../simulation/memory/memory-extraction-store.ts';
import { answerLost } from './answer-lost.ts';
import { at, closedExtraction, extraction, extractionIn, id, iso, timings } from './fixtures.ts';

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
  ['begin', extraction(), begin(extraction(), 'mine', now, timings)],
  ['withdraw', starting, withdraw(starting, 'attempt-1', timings)],
  ['run', starting, run(starting, 'attempt-1', 'task-1', now, timings)],
  [
    'run over UNCONFIRMED',
    extractionIn('UNCONFIRMED'),
    runLate(starting, 'attempt-1', 'task-1', now, timings),
  ],
  ['reject', starting, reject(starting, 'attempt-1', 'http-400', now, timings)],
  ['lose track', starting, loseTrack(starting, 'attempt-1', 'unknown', 'start', now, timings)],
  ['give up starting', extraction(), giveUpStarting(extraction(), 'start-given-up', now, timings)],
  [
    'settle',
    runningRow,
    settle({ extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' }, 'webhook', now, timings),
  ],
  [
    'correct',
    timedOut,
    correct({ extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' }, 'webhook', now, timings),
  ],
  ['time out', runningRow, timeOut(runningRow, now, timings)],
  ['collected', completed, collected(completed, {}, now, timings)],
  ['give up collecting', completed, giveUpCollecting(completed, 'too-late', now, timings)],
  ['end grace', timedOut, endGrace(timedOut, now, timings)],
  ['look again', runningRow, lookAgain(runningRow, iso(500))],
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
    const outcome = await applyChange(answerLost(store), change);
    expect(outcome).toEqual({ kind: 'done', record: once.rows.get(id), mine: true });
  },
);

test.each(changes)('%s on a row that is gone is lost', async (_name, _row, change) => {
  expect(await applyChange(memoryExtractionStore(), change)).toEqual({ kind: 'lost', record: undefined });
});

describe('a rival’s write is not taken for my own', () => {
  const startedBy = (attemptId: string) => extractionIn('STARTING', { attemptId });
  const closedBy = (status: 'REJECTED' | 'UNCONFIRMED', attemptId: string) =>
    extractionIn(status, { attemptId });

  test.each<readonly [string, Extraction, Change]>([
    [
      'time out, over the cap: a rival timed out without having read that',
      timedOut,
      timeOutOversized(runningRow, now, timings),
    ],
    ['begin: another attempt began', startedBy('theirs'), begin(extraction(), 'mine', now, timings)],
    [
      'begin: mine was declared dead before I heard of it',
      closedBy('UNCONFIRMED', 'mine'),
      begin(extraction(), 'mine', now, timings),
    ],
    ['begin: the start was given up', extractionIn('NOT_STARTED'), begin(extraction(), 'mine', now, timings)],
    ['withdraw: another attempt is under way', startedBy('theirs'), withdraw(starting, 'mine', timings)],
    ['withdraw: declared dead', closedBy('UNCONFIRMED', 'mine'), withdraw(starting, 'mine', timings)],
    ['run: another attempt is under way', startedBy('theirs'), run(starting, 'mine', 'task-9', now, timings)],
    ['run: another task runs', runningRow, run(starting, 'mine', 'task-9', now, timings)],
    [
      'reject: another attempt’s',
      closedBy('REJECTED', 'theirs'),
      reject(starting, 'mine', 'r', now, timings),
    ],
    [
      'lose track: another attempt’s',
      closedBy('UNCONFIRMED', 'theirs'),
      loseTrack(starting, 'mine', 'r', 'start', now, timings),
    ],
    ['give up starting: it began', starting, giveUpStarting(extraction(), 'r', now, timings)],
    [
      'settle: with another status',
      extractionIn('FAILED'),
      settle({ extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' }, 'webhook', now, timings),
    ],
    [
      'settle: timed out first',
      timedOut,
      settle({ extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' }, 'webhook', now, timings),
    ],
    ['time out: settled first', completed, timeOut(runningRow, now, timings)],
    ['collected: late truth came between', completed, collected(extractionIn('PARTIAL'), {}, now, timings)],
    [
      'give up collecting: collected first',
      closedExtraction({ status: 'COMPLETED', collectedAt: iso(50) }),
      giveUpCollecting(completed, 'too-late', now, timings),
    ],
    ['end grace: late truth came first', completed, endGrace(timedOut, now, timings)],
    [
      'look again: moved elsewhere',
      extractionIn('RUNNING', { openUntil: iso(1) }),
      lookAgain(runningRow, iso(500)),
    ],
    ['look again: closed', closedExtraction({ status: 'COMPLETED' }), lookAgain(completed, iso(500))],
  ])('%s', async (_what, current, change) => {
    expect(await applyChange(storeWith(current), change)).toEqual({ kind: 'lost', record: current });
  });
});

test('the same fact told twice is done, whoever told it first', async () => {
  const row = extractionIn('COMPLETED', { settledBy: 'reconcile' });
  const again = settle(
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
    giveUpStarting(extraction(), 'r', earlier, timings),
    giveUpStarting(extraction(), 'r', now, timings),
  ],
  [
    'lose track',
    starting,
    loseTrack(starting, 'attempt-1', 'r', 'start', now, timings),
    loseTrack(starting, 'attempt-1', 'r', 'reconcile', now, timings),
  ],
  ['time out', runningRow, timeOut(runningRow, earlier, timings), timeOut(runningRow, now, timings)],
  [
    'collected',
    completed,
    collected(completed, {}, earlier, timings),
    collected(completed, {}, now, timings),
  ],
])('%s that somebody else has written already is done, and not mine', async (_what, row, theirs, mine) => {
  const store = storeWith(row);
  await store.apply(theirs);
  expect(await applyChange(store, mine)).toEqual({ kind: 'done', record: store.rows.get(id), mine: false });
});

test('a task that was settled before I heard that it runs is mine all the same', async () => {
  const change = run(starting, 'attempt-1', 'task-1', now, timings);
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
  await expect(applyChange(store, begin(extraction(), 'mine', now, timings))).rejects.toThrow('table down');
});
