import { describe, expect, test } from 'vitest';
import { limitParallelCalls } from '../../../tools/acceptance/limit-parallel-calls.ts';
import { deliveriesEnded, plannedUsername, provider } from '../support/call-extractions.ts';
import { closed, statusesOf } from '../support/records.ts';
import { running } from '../support/running-extractions.ts';
import { type InjectedFailure, injectedFailures, tries } from './injected-failures.ts';
import { type PlannedFault, planFault, untilInjected } from './plan-function-faults.ts';

const update = { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true } as const;

const recordStatus = { call: 'storing the status', ...update, contains: ['":at"'] };

const calls = [
  recordStatus,
  { call: 'settling the extraction', ...update, contains: ['":status"', '":was0"'] },
  {
    call: 'sending the message',
    service: 'sqs',
    operation: 'AmazonSQS.SendMessage',
    writes: true,
    contains: [],
  },
  {
    call: 'waking the machine',
    service: 'stepFunctions',
    operation: 'AWSStepFunctions.SendTaskSuccess',
    writes: true,
    contains: [],
  },
] as const;

/**
 * The emulator starts new processes for every test: for its start, its deliveries and each killed one. All tests at once
 * would keep 2 cores so busy that deliveries of other files time out as well.
 */
const paced = limitParallelCalls(4);

const duringDelivery = (taskId: string) => [taskId, '"POST /webhooks/provider"'];

/** Ends the task, and returns the provider's deliveries once one is accepted. */
const finishAndDeliver = async (taskId: string) => {
  await provider.finish(taskId, 'COMPLETED');
  await deliveriesEnded(taskId);
  return (await provider.task(taskId)).deliveries;
};

const expectSettledByWebhook = async (extractionId: string): Promise<void> => {
  expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
  expect(statusesOf(extractionId)).toEqual(['REQUESTED', 'STARTING', 'RUNNING', 'COMPLETED']);
};

describe.each(calls)('receive-webhook, $call', ({ service, operation, writes, contains }) => {
  test.for(injectedFailures({ service, writes }, tries.prompt))(
    '$title: the provider retries, and the webhook settles the extraction',
    ({ kind, when, times = 1, effect }: InjectedFailure) =>
      paced(async () => {
        const { extractionId, taskId } = await running(await plannedUsername({ durationMs: null }));
        const during = duringDelivery(taskId);
        const fault = await planFault({ operation, contains, during, when, times, effect });

        const deliveries = await finishAndDeliver(taskId);
        expect(fault.wasInjected()).toBe(true);
        // On a busy machine further deliveries may fail, but none is refused.
        const statuses = deliveries.map(({ status = 500 }) => status);
        expect(statuses.filter((status) => status !== 204 && status < 500)).toEqual([]);
        expect(statuses.at(-1)).toBe(204);
        if (kind !== 'once') expect(statuses[0]).toBeGreaterThanOrEqual(500);
        await expectSettledByWebhook(extractionId);
      }),
  );
});

describe('receive-webhook, reading the signing keys', () => {
  const service = 'secretsManager';

  /** A process caches them. So each delivery kills its process, until a new process reads them. */
  const deliverUntilInjected = async (taskId: string, fault: PlannedFault): Promise<void> => {
    const kills = await planFault({
      operation: recordStatus.operation,
      contains: recordStatus.contains,
      during: duringDelivery(taskId),
      when: 'before',
      times: 10_000,
      effect: { kind: 'exit' },
    });
    await untilInjected(fault, () => provider.deliverTaskOnce(taskId, { statusOverride: 'COMPLETED' }));
    await kills.cancel();
  };

  test.for(injectedFailures({ service, writes: false }, tries.prompt))(
    '$title: no delivery is answered 401, and the webhook settles the extraction',
    ({ when, times = 1, effect }) =>
      paced(async () => {
        const { extractionId, taskId } = await running(await plannedUsername({ durationMs: null }));
        const during = duringDelivery(taskId);
        const fault = await planFault({
          operation: 'secretsmanager.GetSecretValue',
          contains: ['AWSCURRENT'],
          during,
          when,
          times,
          effect,
        });
        await deliverUntilInjected(taskId, fault);

        const deliveries = await finishAndDeliver(taskId);
        expect(deliveries.map(({ status }) => status)).not.toContain(401);
        await expectSettledByWebhook(extractionId);
      }),
  );
});
