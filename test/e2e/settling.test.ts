/** @module-tag slow */

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { planKills } from './injected-failures/plan-function-faults.ts';
import { stopExecution } from './support/broken-execution.ts';
import {
  extract,
  extractionIdForKey,
  plannedUsername,
  provider,
  requestFor,
} from './support/call-extractions.ts';
import { closed, inStatus } from './support/records.ts';
import { settledByWebhook, taskItem } from './support/running-extractions.ts';
import { sweepUntilClosed } from './support/sweep-until-closed.ts';

test('reconcile adopts a task that start-task did not link, so that a delivery finds its extraction', async () => {
  // Reads fail, so that the delivery settles it.
  const username = await plannedUsername({ durationMs: null, readForever: { kind: 'answer', status: 503 } });
  const idempotencyKey = randomUUID();
  const extractionId = extractionIdForKey(idempotencyKey);
  // start-task is killed before each link, until the execution is stopped.
  const fault = await planKills({
    operation: 'DynamoDB_20120810.UpdateItem',
    contains: ['callbackToken'],
    during: [extractionId],
  });
  await extract(requestFor(username), { idempotencyKey });
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');

  await stopExecution(extractionId);
  const adopted = async () => expect(await taskItem(taskId)).toMatchObject({ taskId, extractionId });
  await eventually(adopted);
  expect(await taskItem(taskId)).not.toHaveProperty('callbackToken');
  await fault.cancel();

  await provider.finish(taskId, 'PARTIAL');
  expect(await inStatus(extractionId, 'PARTIAL')).toMatchObject({ settledBy: 'webhook' });
  await provider.setPlan(username, {});
  expect(await sweepUntilClosed(extractionId)).toMatchObject({ status: 'PARTIAL' });
});

test('while the results cannot be collected, the outcome is recorded at once', async () => {
  const { extractionId } = await settledByWebhook({
    read: [{ kind: 'answer', status: 503 }, { kind: 'reset' }],
  });

  const outcome = await inStatus(extractionId, 'COMPLETED');
  expect(outcome).toMatchObject({ settledBy: 'webhook' });
  expect(outcome.collectedAt).toBeUndefined();
  const record = await closed(extractionId);
  expect(record.results?.bytes).toBeGreaterThan(0);
  const reads = await provider.calls({ taskId: record.taskId ?? '', method: 'GET' });
  expect(reads.slice(0, 2).map(({ status }) => status)).toEqual([503, 'none']);
});
