import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { dueShardOf } from '../../../lib/extraction/due-shard.ts';
import {
  breakExecution,
  deferredToSweep,
  reportBrokenExecution,
  runningWithoutExecution,
} from '../support/broken-execution.ts';
import { authorized, consentRequest } from '../support/consent-extractions.ts';
import { eventually } from '../support/eventually.ts';
import { extract, extractionIdForKey, provider } from '../support/extractions.ts';
import { planFault } from '../support/faults.ts';
import { inStatus } from '../support/records.ts';
import { inAnHour, moveDueTime, sweepUntilClosed } from '../support/sweep.ts';
import { injectedFaults, tries } from './injected-faults.ts';

const read = { service: 'dynamodb', operation: 'DynamoDB_20120810.GetItem', writes: false } as const;
const update = { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true } as const;

const sweptToTheEnd = async (extractionId: string): Promise<void> =>
  expect(await sweepUntilClosed(extractionId)).toMatchObject({
    status: 'COMPLETED',
    settledBy: 'reconcile',
  });

describe.each([
  { call: 'reading the record', ...read, contains: [] },
  { call: 'deferring the record to the sweep', ...update, contains: ['":dueAt"'] },
])('the rule for broken executions, $call', ({ service, operation, writes, contains }) => {
  test.for(injectedFaults({ service, writes }, tries.patient))(
    '$title: Lambda repeats the invocation',
    async ({ when, times = 1, effect }) => {
      const { extractionId, taskId } = await runningWithoutExecution();
      await moveDueTime(extractionId, inAnHour());
      const during = [extractionId, '"execution-broken"'];
      const fault = await planFault({ operation, contains, during, when, times, effect });

      await reportBrokenExecution(extractionId);
      await eventually(() => expect(fault.wasInjected()).toBe(true));
      await deferredToSweep(extractionId);
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
  { call: 'reading the record', ...read, contains: (id: string) => [id] },
  { call: 'claiming the record', ...update, contains: (id: string) => [id, '":dueAt"'] },
])('the sweep, $call', ({ service, operation, writes, contains }) => {
  test.for(injectedFaults({ service, writes }, tries.patient))(
    '$title: another sweep closes the extraction',
    async ({ when, times = 1, effect }) => {
      const { extractionId, taskId } = await runningWithoutExecution();
      await moveDueTime(extractionId, inAnHour());
      await provider.finish(taskId, 'COMPLETED');
      const about = contains(extractionId);
      const during = [extractionId, '"trigger":"sweep"'];
      const fault = await planFault({ operation, contains: about, during, when, times, effect });

      await sweptToTheEnd(extractionId);
      expect(fault.wasInjected()).toBe(true);
    },
  );
});

/**
 * The same by consent. Its start-task is killed before it can send the machine on to the polls: on the emulator a poll
 * that is in progress outlives its execution, and would settle the extraction without the fault.
 */
const runningByConsentWithoutExecution = async () => {
  const idempotencyKey = randomUUID();
  const extractionId = extractionIdForKey(idempotencyKey);
  const fault = await planFault({
    operation: 'AWSStepFunctions.SendTaskSuccess',
    during: [extractionId, '"callbackToken"'],
    when: 'before',
    times: 1_000,
    effect: { kind: 'exit' },
  });
  await extract(consentRequest(await authorized({ durationMs: null })), { idempotencyKey });
  const { taskId = '' } = await inStatus(extractionId, 'RUNNING');
  await breakExecution(extractionId);
  await fault.cancel();
  return { extractionId, taskId };
};

const readInput = {
  service: 'stepFunctions',
  operation: 'AWSStepFunctions.DescribeExecution',
  writes: false,
} as const;

describe("the sweep, reading the execution's input", () => {
  test.for(injectedFaults(readInput, tries.patient))(
    '$title: another sweep closes the extraction',
    async ({ when, times = 1, effect }) => {
      const { extractionId, taskId } = await runningByConsentWithoutExecution();
      await moveDueTime(extractionId, inAnHour());
      const { operation } = readInput;
      const during = [extractionId, '"trigger":"sweep"'];
      const fault = await planFault({ operation, contains: [extractionId], during, when, times, effect });
      await provider.finishPolled(taskId);

      await sweptToTheEnd(extractionId);
      expect(fault.wasInjected()).toBe(true);
    },
  );
});
