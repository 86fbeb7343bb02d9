import { expect, test } from 'vitest';
import type { Extraction, TerminalStatus } from '../../../../lib/extraction/record.ts';
import { recordDelivery, type WakeOutcome } from '../../../../lib/extraction/record-delivery.ts';
import type { Task } from '../../../../lib/extraction/store.ts';
import { closedExtraction, extractionIn, id, iso } from '../../../support/data/extraction-fixtures.ts';
import { extractionInMemory } from '../../../support/stores/extraction-in-memory.ts';
import type { StoreCall, StoreFaults } from '../../../support/stores/store-fault.ts';

const linked: Task = { taskId: 'task-1', extractionId: id, callbackToken: 'token-1', callbackAttempt: 0 };
const collected = closedExtraction({ status: 'COMPLETED', collectedAt: iso(50), taskId: 'task-1' });

type Setup = {
  readonly record?: Extraction;
  readonly task?: Task;
  readonly wake?: WakeOutcome;
  readonly taskStatus?: TerminalStatus;
  readonly faults?: StoreFaults;
};

const recorded = (wake: WakeOutcome | 'no-token') => ({ kind: 'recorded', extractionId: id, wake });

/** Delivers a status, and returns what was done and counted, in order. */
const deliver = async ({ record, task, wake = 'woken', taskStatus = 'COMPLETED', faults }: Setup) => {
  const { deps, seen } = extractionInMemory(record, { now: 100, faults });
  if (task !== undefined) seen.tasks.items.set('task-1', task);
  const done: string[] = [];
  const outcome = await recordDelivery(
    { taskId: 'task-1', taskStatus },
    {
      ...deps,
      send: async ({ extractionId, cause }) => void done.push(`send ${extractionId} ${cause}`),
      wake: async (callbackToken, extractionId) => {
        done.push(`wake ${callbackToken} ${extractionId}`);
        return wake;
      },
    },
  );
  const { counted } = seen;
  return { outcome, done, counted, record: seen.record(), task: seen.task(), marks: seen.marks() };
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
    'whose callback token is invalid is collected, and counted',
    { record: running, task: linked, wake: 'invalid-token' },
    recorded('invalid-token'),
    [sent, woken],
    ['SettledByWebhook', 'InvalidCallbackToken'],
  ],
  [
    'for a closed record sends nothing',
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

test('refused credentials are marked before the outcome is written', async () => {
  const task = { ...linked, credentialsMac: 'mac' };
  const order: string[] = [];
  const faults = { before: ({ store, method }: StoreCall) => void order.push(`${method} ${store}`) };
  const taskStatus = 'CREDENTIALS_WRONG';
  const delivered = await deliver({ record: running, task, taskStatus, faults });
  const written = ['recordStatus tasks', 'notice tasks', 'put refusals', 'notice tasks', 'apply extractions'];
  expect(order).toEqual(written);
  expect(delivered.marks).toMatchObject([{ credentialsMac: 'mac', extractionId: id, isRefused: true }]);
  expect(delivered.task).toMatchObject({ noticedAt: iso(100) });
  // The other statuses, and a task without a MAC.
  for (const other of [
    { task },
    { task, taskStatus: 'CREDENTIALS_LOCKED' },
    { task: linked, taskStatus },
  ] as const) {
    expect((await deliver({ record: running, ...other })).marks).toEqual([]);
  }
});
