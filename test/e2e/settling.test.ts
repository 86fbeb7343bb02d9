import { randomUUID } from 'node:crypto';
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { describe, expect, test } from 'vitest';
import { aws } from './support/aws.ts';
import { backdate } from './support/backdate.ts';
import { eventually } from './support/eventually.ts';
import { executionOf, historyOf } from './support/execution.ts';
import {
  extract,
  extractionIdForKey,
  plannedUsername,
  provider,
  requestFor,
  view,
} from './support/extractions.ts';
import { planFault } from './support/faults.ts';
import { closed, inStatus, recordWhere } from './support/records.ts';
import { taskRow } from './support/running.ts';
import { sweepUntilClosed } from './support/sweep.ts';

const stop = (extractionId: string) =>
  aws.stepFunctions.send(
    new StopExecutionCommand({
      executionArn: executionOf(extractionId),
      error: 'Stopped',
      cause: 'by a test',
    }),
  );

test('an execution stopped by an operator is taken over by the sweep, which polls and closes', async () => {
  const username = await plannedUsername({ durationMs: null, webhook: { enabled: false } });
  const extractionId = await extract(requestFor(username));
  const { dueAt = '', taskId = '' } = await inStatus(extractionId, 'RUNNING');

  await stop(extractionId);
  // The rule tells reconcile, which finds the task running and leaves it to the sweep.
  await recordWhere(extractionId, 'handed to the sweep', (record) => (record.dueAt ?? '') < dueAt);
  await provider.finish(taskId, 'COMPLETED');
  expect(await sweepUntilClosed(extractionId)).toMatchObject({
    status: 'COMPLETED',
    settledBy: 'reconcile',
  });
});

test('a task that start-task never came to link is adopted, so that a delivery finds its extraction', async () => {
  // No read tells, so that what settles it is the delivery.
  const username = await plannedUsername({
    durationMs: null,
    readForever: { kind: 'answer', status: 503 },
  });
  const idempotencyKey = randomUUID();
  const extractionId = extractionIdForKey(idempotencyKey);
  // Every start-task dies before its link, until the execution is stopped and there is none any more.
  const fault = await planFault({
    operation: 'DynamoDB_20120810.UpdateItem',
    contains: ['callbackToken'],
    during: [extractionId],
    when: 'before',
    times: 20,
    effect: { kind: 'exit' },
  });
  await extract(requestFor(username), { idempotencyKey });
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');

  await stop(extractionId);
  const adopted = async () => expect(await taskRow(taskId)).toMatchObject({ taskId, extractionId });
  await eventually(adopted);
  expect(await taskRow(taskId)).not.toHaveProperty('callbackToken');
  await fault.cancel();

  await provider.finish(taskId, 'PARTIAL');
  expect(await inStatus(extractionId, 'PARTIAL')).toMatchObject({ settledBy: 'webhook' });
  await provider.setPlan(username, {});
  expect(await sweepUntilClosed(extractionId)).toMatchObject({ status: 'PARTIAL' });
});

describe('while the results cannot be collected, the outcome is recorded at once and the results later', () => {
  test('as the provider is down', async () => {
    const username = await plannedUsername({
      read: [{ kind: 'answer', status: 503 }, { kind: 'reset' }],
    });
    const extractionId = await extract(requestFor(username));

    const outcome = await inStatus(extractionId, 'COMPLETED');
    expect(outcome).toMatchObject({ settledBy: 'webhook' });
    expect(outcome.collectedAt).toBeUndefined();
    const record = await closed(extractionId);
    expect(record.results?.bytes).toBeGreaterThan(0);
    expect(
      (await provider.calls({ taskId: record.taskId ?? '', method: 'GET' })).map(({ status }) => status),
    ).toEqual([503, 'none', 200]);
  });

  test('for as long as the machine tries, after which the sweep does', async () => {
    const username = await plannedUsername({ readForever: { kind: 'answer', status: 503 } });
    const extractionId = await extract(requestFor(username));

    expect(await inStatus(extractionId, 'COMPLETED')).toMatchObject({ settledBy: 'webhook' });
    await backdate(extractionId, 'settledAt');
    expect((await historyOf(extractionId)).at(-1)?.type).toBe('ExecutionSucceeded');
    await provider.setPlan(username, {});
    const record = await sweepUntilClosed(extractionId);
    expect(record.results?.bytes).toBeGreaterThan(0);
  });
});

test('results of an unexpected shape are stored as they are, without action results', async () => {
  const username = await plannedUsername({ results: { surprise: [1, 2, 3] } });
  const extractionId = await extract(requestFor(username));

  const record = await closed(extractionId);
  expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
  expect(record.actionResults).toBeUndefined();
  const { results } = await view(extractionId);
  expect(await (await fetch(results?.url ?? '')).json()).toMatchObject({ results: { surprise: [1, 2, 3] } });
});
