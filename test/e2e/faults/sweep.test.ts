import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { dueShardOf } from '../../../lib/extraction/due-shard.ts';
import { reportBrokenExecution, stopExecution } from '../support/broken-execution.ts';
import { authorized, consentRequest } from '../support/consent-extractions.ts';
import { eventually } from '../support/eventually.ts';
import { extract, extractionIdForKey, plannedUsername, provider } from '../support/extractions.ts';
import { planFault } from '../support/faults.ts';
import { inStatus } from '../support/records.ts';
import { running } from '../support/running.ts';
import { sweepUntilClosed } from '../support/sweep.ts';
import { injectedFaults, tries } from './injected-faults.ts';

const read = { service: 'dynamodb', operation: 'DynamoDB_20120810.GetItem', writes: false } as const;
const update = { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true } as const;

/** Nothing reconciles it: the machine waits for a webhook that does not come, and it is not due. */
const quietlyRunning = async () =>
  running(await plannedUsername({ durationMs: null, webhook: { enabled: false } }));

const sweptToTheEnd = async (extractionId: string): Promise<void> =>
  expect(await sweepUntilClosed(extractionId)).toMatchObject({
    status: 'COMPLETED',
    settledBy: 'reconcile',
  });

describe.each([
  { call: 'reading the record', ...read, contains: [] },
  { call: 'deferring the record', ...update, contains: ['":dueAt"'] },
])('the message of the rule for broken executions, $call', ({ service, operation, writes, contains }) => {
  test.for(injectedFaults({ service, writes }, tries.patient))(
    '$title: the sweep closes the extraction',
    async ({ when, times = 1, effect }) => {
      const { extractionId, taskId } = await quietlyRunning();
      const during = [extractionId, 'execution-broken'];
      const fault = await planFault({ operation, contains, during, when, times, effect });

      await reportBrokenExecution(extractionId);
      await eventually(() => expect(fault.wasInjected()).toBe(true));
      await provider.finish(taskId, 'COMPLETED');
      await sweptToTheEnd(extractionId);
    },
  );
});

const find = { service: 'dynamodb', operation: 'DynamoDB_20120810.Query', writes: false } as const;

describe.each([
  {
    call: 'querying what is due',
    ...find,
    contains: (id: string) => [`":shard":{"N":"${dueShardOf(id)}"}`],
  },
  { call: 'claiming the record', ...update, contains: (id: string) => [id, '":dueAt"'] },
  {
    call: 'sending the batch',
    service: 'sqs',
    operation: 'AmazonSQS.SendMessageBatch',
    writes: true,
    contains: (id: string) => [id],
  } as const,
])('the sweep, $call', ({ service, operation, writes, contains }) => {
  test.for(injectedFaults({ service, writes }, tries.patient))(
    '$title: another sweep closes the extraction',
    async ({ when, times = 1, effect }) => {
      const { extractionId, taskId } = await quietlyRunning();
      await provider.finish(taskId, 'COMPLETED');
      const about = contains(extractionId);
      const during = [extractionId, '"trigger":"sweep"'];
      const fault = await planFault({ operation, contains: about, during, when, times, effect });

      await sweptToTheEnd(extractionId);
      expect(fault.wasInjected()).toBe(true);
    },
  );
});

/** The same by consent, whose start-task is killed before it can keep the sealed target in the table. */
const runningByConsentWithoutTarget = async (idempotencyKey: string) => {
  const extractionId = extractionIdForKey(idempotencyKey);
  const kills = await planFault({
    ...{ operation: update.operation, contains: ['":target"'], during: [extractionId, '"callbackToken"'] },
    when: 'before',
    times: 1_000,
    effect: { kind: 'exit' },
  });
  await extract(consentRequest(await authorized({ durationMs: null })), { idempotencyKey });
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
  await stopExecution(extractionId);
  return { taskId, kills };
};

const readInput = {
  service: 'stepFunctions',
  operation: 'AWSStepFunctions.DescribeExecution',
  writes: false,
} as const;

describe("a message, reading the execution's input", () => {
  test.for(injectedFaults(readInput, tries.patient))(
    '$title: another one closes the extraction',
    async ({ when, times = 1, effect }) => {
      const idempotencyKey = randomUUID();
      const extractionId = extractionIdForKey(idempotencyKey);
      const { operation } = readInput;
      const during = [extractionId, '"aws:sqs"'];
      const fault = await planFault({ operation, during, when, times, effect });
      const { taskId, kills } = await runningByConsentWithoutTarget(idempotencyKey);
      await provider.finishPolled(taskId);

      await sweptToTheEnd(extractionId);
      await kills.cancel();
      expect(fault.wasInjected()).toBe(true);
    },
  );
});
