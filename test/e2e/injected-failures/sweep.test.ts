import { describe, expect, test } from 'vitest';
import { dueShardOf } from '../../../lib/extraction/deadlines.ts';
import { eventually } from '../../support/eventually.ts';
import { authorized, consentRequest } from '../support/authorized-consents.ts';
import { moveTimes } from '../support/backdate.ts';
import { reportBrokenExecution } from '../support/broken-execution.ts';
import { extract, plannedUsername, provider } from '../support/call-extractions.ts';
import { inStatus } from '../support/records.ts';
import { forgetRequests } from '../support/request-items.ts';
import { running, timedOut } from '../support/running-extractions.ts';
import { sweepUntilClosed } from '../support/sweep-until-closed.ts';
import { injectedFailures, tries } from './injected-failures.ts';
import { planFault } from './plan-function-faults.ts';

const read = { service: 'dynamodb', operation: 'DynamoDB_20120810.GetItem', writes: false } as const;
const update = { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true } as const;

/** Longer than graceSeconds, a day. */
const twoDaysMs = 2 * 86_400_000;

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
  test.for(injectedFailures({ service, writes }, tries.patient))(
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
  { call: 'leasing the record', ...update, contains: (id: string) => [id, '":dueAt"'] },
  {
    call: 'sending the batch',
    service: 'sqs',
    operation: 'AmazonSQS.SendMessageBatch',
    writes: true,
    contains: (id: string) => [id],
  } as const,
])('the sweep, $call', ({ service, operation, writes, contains }) => {
  test.for(injectedFailures({ service, writes }, tries.patient))(
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

test('an extraction by consent whose request is lost is polled no more, and closes after its grace', async () => {
  const extractionId = await extract(consentRequest(await authorized({ durationMs: null })));
  await inStatus(extractionId, 'RUNNING');
  await forgetRequests(extractionId);
  await timedOut(extractionId);
  await moveTimes(extractionId, { settledAt: new Date(Date.now() - twoDaysMs).toISOString() });
  expect(await sweepUntilClosed(extractionId)).toMatchObject({
    status: 'TIMED_OUT',
    collectionError: 'request-data-gone',
  });
});
