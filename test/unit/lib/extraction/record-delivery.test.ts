import { expect, test } from 'vitest';
import type { Extraction, TerminalStatus } from '#lib/extraction/record.ts';
import { recordDelivery } from '#lib/extraction/record-delivery.ts';
import type { ExtractionStore, Task, WakeOutcome } from '#lib/extraction/store.ts';
import { at, closedExtraction, extractionIn, id, iso } from '../../../support/data/extraction-fixtures.ts';
import { extractionInMemory } from '../../../support/stores/extraction-in-memory.ts';
import type { StoreFaults } from '../../../support/stores/store-fault.ts';
import { withLostAnswers } from '../../../support/stores/with-lost-answers.ts';

const linked: Task = { taskId: 'task-1', extractionId: id, callbackToken: 'token-1', callbackAttempt: 0 };
const collected = closedExtraction({ status: 'COMPLETED', collectedAt: iso(50), taskId: 'task-1' });

type Setup = {
  readonly record?: Extraction;
  readonly task?: Task;
  readonly wake?: WakeOutcome;
  readonly taskStatus?: TerminalStatus;
  readonly faults?: StoreFaults;
  readonly through?: ((store: ExtractionStore) => ExtractionStore) | undefined;
};

const recorded = (wake: WakeOutcome | 'no-token') => ({ kind: 'recorded', extractionId: id, wake });

/** Delivers a status, and returns what was done and counted, in order. */
const deliver = async (setup: Setup) => {
  const { record, task, wake = 'woken', taskStatus = 'COMPLETED', through = (store) => store } = setup;
  const { deps, seen } = extractionInMemory(record, { now: 100, faults: setup.faults });
  if (task !== undefined) seen.tasks.items.set('task-1', task);
  const done: string[] = [];
  const outcome = await recordDelivery(
    { taskId: 'task-1', taskStatus },
    {
      ...deps,
      extractions: through(deps.extractions),
      send: async ({ extractionId, cause }) => void done.push(`send ${extractionId} ${cause}`),
      wake: async (callbackToken, extractionId) => {
        done.push(`wake ${callbackToken} ${extractionId}`);
        return wake;
      },
    },
  );
  return { ...seen, outcome, done, record: seen.record(), task: seen.task(), marks: seen.marks() };
};

const running = extractionIn('RUNNING');
const [sent, woken] = [`send ${id} webhook`, `wake token-1 ${id}`];

// The simulation and test/fuzz/webhook have what is recorded in every state, and after every failure.
test.each<readonly [string, Setup, object, readonly string[], readonly string[]]>([
  [
    'after the link settles, has the queue collect, and then ends the machine',
    { record: running, task: linked },
    recorded('woken'),
    [sent, woken],
    ['SettledByWebhook'],
  ],
  [
    'before the link is stored, and no machine is woken',
    { record: extractionIn('STARTING') },
    { kind: 'stored' },
    [],
    ['UnlinkedDelivery'],
  ],
  [
    'for a closed record sends nothing, and counts that its callback token is invalid',
    { record: collected, task: linked, wake: 'invalid-token' },
    recorded('invalid-token'),
    [woken],
    ['InvalidCallbackToken'],
  ],
  [
    'that is repeated finds its callback token used, which is no failure',
    { record: collected, task: linked, wake: 'gone' },
    recorded('gone'),
    [woken],
    [],
  ],
  [
    'without a record is accepted and counted',
    { task: linked },
    recorded('woken'),
    [woken],
    ['DeliveryWithoutRecord'],
  ],
  [
    'for a link without a token wakes no machine, and the queue collects',
    { record: running, task: { taskId: 'task-1', extractionId: id } },
    recorded('no-token'),
    [sent],
    ['SettledByWebhook'],
  ],
])('a delivery %s', async (_what, setup, outcome, done, counted) => {
  const delivered = await deliver(setup);
  expect(delivered).toMatchObject({ outcome, done, counted });
  expect(delivered.task).toMatchObject({ taskStatus: 'COMPLETED', notifiedAt: iso(100) });
  const settled = { status: 'COMPLETED', settledBy: 'webhook', settledAt: iso(100), dueAt: iso(220) };
  const after = setup.record === running ? expect.objectContaining({ ...running, ...settled }) : setup.record;
  expect(delivered.record).toEqual(after);
});

test('a later delivery with another status marks nothing', async () => {
  const first = {
    taskStatus: 'COMPLETED',
    firstStatus: 'COMPLETED',
    noticedAt: iso(50),
    notifiedAt: iso(50),
  };
  const task = { ...linked, credentialsMac: 'mac', ...first };
  const delivered = await deliver({ record: collected, task, taskStatus: 'CREDENTIALS_WRONG' });
  expect(delivered).toMatchObject({ marks: [], task, counted: ['StatusDisagreement'] });
});

test('the final status of a task is written to a record of a newer version too, as no one else knows it', async () => {
  const newer = { ...extractionIn('TIMED_OUT'), schemaVersion: 2 } as unknown as Extraction;
  const { record, done } = await deliver({ record: newer, task: linked });
  expect(record).toMatchObject({ status: 'COMPLETED', schemaVersion: 2 });
  expect(done).toEqual([sent, woken]);
});

const deliverTo = (record: Extraction, taskStatus: TerminalStatus, through?: Setup['through']) =>
  deliver({ record, task: linked, taskStatus, through });

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test.each([
  ['', undefined],
  [' by a write whose answer was lost', withLostAnswers],
])('an outcome that is settled%s is counted and reported once, with its trace', async (_, through) => {
  const before = { ...running, traceparent };
  const { record, counted, measured, progress } = await deliverTo(before, 'CREDENTIALS_WRONG', through);
  const settled = { status: 'CREDENTIALS_WRONG', settledBy: 'webhook', settledAt: iso(100) };
  expect(record).toMatchObject(settled);
  expect([counted, measured]).toEqual([['SettledByWebhook'], [['SecondsToOutcome', 100]]]);
  const facts = { extractionId: id, entity: 'bank', status: 'CREDENTIALS_WRONG', seconds: 100, traceparent };
  expect(progress).toMatchObject([['Extraction ended.', facts]]);
});

test('a correction replaces TIMED_OUT and takes its report back, once, even if its answer was lost', async () => {
  const { record, counted, progress } = await deliverTo(
    extractionIn('TIMED_OUT'),
    'PARTIAL',
    withLostAnswers,
  );
  expect(record).toMatchObject({ status: 'PARTIAL', settledBy: 'webhook', settledAt: iso(100) });
  expect(record).not.toHaveProperty('reason');
  expect(counted).toEqual(['SettledByWebhook', 'Corrected']);
  const timedOut = { status: 'TIMED_OUT', reason: 'deadline-passed', settledMs: at(7_200).getTime() };
  expect(progress).toMatchObject([
    ['Outcome corrected.', timedOut],
    ['Extraction ended.', { status: 'PARTIAL', settledMs: at(100).getTime() }],
  ]);
});

test('a different outcome changes nothing, and the disagreement is counted', async () => {
  const before = extractionIn('COMPLETED');
  const { record, counted } = await deliverTo(before, 'FAILED');
  expect([record, counted]).toEqual([before, ['StatusDisagreement']]);
});

test('an outcome is logged again without a figure by a repeated delivery, as its writer may have ended early', async () => {
  const before = extractionIn('COMPLETED');
  const { record, counted, measured, progress } = await deliverTo(before, 'COMPLETED');
  const facts = { extractionId: id, status: 'COMPLETED', again: true };
  expect(progress).toMatchObject([['Extraction ended.', facts]]);
  expect([record, counted, measured]).toEqual([before, [], []]);
});

test('an outcome is reported without a figure where the record has no valid time, as the write is done', async () => {
  const { progress, measured } = await deliverTo({ ...running, requestedAt: 'damaged' }, 'FAILED');
  expect([progress.length, measured]).toEqual([1, [['OutcomeFailed', 1]]]);
});
