import { describe, expect, test } from 'vitest';
import type { Extraction, TerminalStatus } from '../../../../lib/extraction/record.ts';
import {
  type RecordDeliveryDeps,
  recordDelivery,
  type WakeOutcome,
} from '../../../../lib/extraction/record-delivery.ts';
import type { Task } from '../../../../lib/extraction/store.ts';
import {
  clock,
  closedExtraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../support/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/memory-extraction-store.ts';
import { memoryTaskStore, taskExpiry } from '../../../support/memory-task-store.ts';
import { memoryTelemetry } from '../../../support/memory-telemetry.ts';
import type { StoreCall } from '../../../support/store-fault.ts';

const linked: Task = {
  taskId: 'task-1',
  extractionId: id,
  callbackToken: 'token-1',
  callbackAttempt: 0,
};

const world = (
  setup: {
    readonly record?: Extraction;
    readonly task?: Task;
    readonly send?: () => Promise<void>;
    readonly wake?: () => Promise<WakeOutcome>;
    readonly fault?: (call: StoreCall) => void;
  } = {},
) => {
  const faults = setup.fault === undefined ? {} : { after: setup.fault };
  const extractions = memoryExtractionStore(faults);
  const tasks = memoryTaskStore(faults);
  if (setup.record !== undefined) extractions.items.set(id, setup.record);
  if (setup.task !== undefined) tasks.items.set('task-1', setup.task);
  const woken: unknown[] = [];
  const sent: unknown[] = [];
  const order: string[] = [];
  const time = clock(100);
  const { counted, telemetry } = memoryTelemetry();
  const deps: RecordDeliveryDeps = {
    extractions,
    tasks,
    send: async (message) => {
      await setup.send?.();
      order.push('sent');
      sent.push(message);
    },
    wake: async (callbackToken, extractionId) => {
      order.push('woken');
      woken.push([callbackToken, extractionId]);
      return setup.wake?.() ?? 'woken';
    },
    now: time.now,
    timings,
    telemetry,
  };
  const deliver = (taskStatus: TerminalStatus = 'COMPLETED') =>
    recordDelivery({ taskId: 'task-1', taskStatus }, deps).finally(() => time.advance(30));
  return {
    deliver,
    sent,
    order,
    woken,
    counted,
    record: () => extractions.items.get(id),
    task: () => tasks.items.get('task-1'),
  };
};

const running = { record: extractionIn('RUNNING'), task: linked };

test('a delivery after the link settles the extraction, has the queue collect, and ends the machine', async () => {
  const { deliver, sent, order, woken, counted, record, task } = world(running);
  expect(await deliver()).toEqual({ kind: 'recorded', extractionId: id, wake: 'woken' });
  expect(record()).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook', settledAt: iso(100) });
  expect(task()).toMatchObject({ taskStatus: 'COMPLETED', notifiedAt: iso(100) });
  expect(sent).toEqual([{ extractionId: id, cause: 'webhook' }]);
  expect(woken).toEqual([['token-1', id]]);
  expect(order).toEqual(['sent', 'woken']);
  expect(counted).toEqual(['SettledByWebhook']);
});

test('a delivery before the link is stored, and no machine is woken', async () => {
  const { deliver, woken, counted, record, task } = world({ record: extractionIn('STARTING') });
  expect(await deliver()).toEqual({ kind: 'stored' });
  expect(task()).toEqual({
    taskId: 'task-1',
    taskStatus: 'COMPLETED',
    notifiedAt: iso(100),
    expiresAt: taskExpiry,
  });
  expect(record()).toEqual(extractionIn('STARTING'));
  expect(woken).toEqual([]);
  expect(counted).toEqual(['UnlinkedDelivery']);
});

describe('a callback token for which no machine waits', () => {
  test.each([
    ['gone', []],
    ['invalid-token', ['InvalidCallbackToken']],
  ] as const)('%s: the queue collects all the same', async (wake, metrics) => {
    const { deliver, sent, record, counted } = world({ ...running, wake: async () => wake });
    expect(await deliver()).toEqual({ kind: 'recorded', extractionId: id, wake });
    expect(record()).toMatchObject({ status: 'COMPLETED' });
    expect(sent).toHaveLength(1);
    expect(counted).toEqual(['SettledByWebhook', ...metrics]);
  });

  test('of a closed record changes nothing, and sends nothing', async () => {
    const record = closedExtraction({ status: 'COMPLETED', collectedAt: iso(50), taskId: 'task-1' });
    const { deliver, sent, record: recordNow } = world({ record, task: linked, wake: async () => 'gone' });
    expect(await deliver()).toMatchObject({ wake: 'gone' });
    expect(recordNow()).toEqual(record);
    expect(sent).toEqual([]);
  });
});

test('a delivery without a record is accepted and counted', async () => {
  const { deliver, counted } = world({ task: linked, wake: async () => 'gone' });
  expect(await deliver()).toEqual({ kind: 'recorded', extractionId: id, wake: 'gone' });
  expect(counted).toEqual(['DeliveryWithoutRecord']);
});

test('a link without a token wakes no machine, and the queue collects', async () => {
  const { deliver, sent, woken, record } = world({
    record: running.record,
    task: { taskId: 'task-1', extractionId: id },
  });
  expect(await deliver()).toEqual({ kind: 'recorded', extractionId: id, wake: 'no-token' });
  expect(woken).toEqual([]);
  expect(record()).toMatchObject({ status: 'COMPLETED' });
  expect(sent).toHaveLength(1);
});
