import { describe, expect, test } from 'vitest';
import { deliveriesEnded, plannedUsername, provider } from '../support/extractions.ts';
import { planFault } from '../support/faults.ts';
import { limitTo } from '../support/pace.ts';
import { closed, statusesOf } from '../support/records.ts';
import { running } from '../support/running.ts';
import { type Mishap, mishapsOf, tries } from './injected-faults.ts';

const update = { service: 'dynamodb', operation: 'DynamoDB_20120810.UpdateItem', writes: true } as const;

const notify = { what: 'as it stores the status', ...update, contains: ['":at"'] };

const calls = [
  notify,
  { what: 'as it settles the extraction', ...update, contains: ['":status"', '":was0"'] },
  {
    what: 'as it wakes the machine',
    service: 'stepFunctions',
    operation: 'AWSStepFunctions.SendTaskSuccess',
    writes: true,
    contains: [],
  },
] as const;

/**
 * Each scenario makes the emulator start processes, for its start, its deliveries and in place of those that it
 * kills. All 27 at once keep 2 cores so busy with that, that deliveries of other files are not answered in the
 * provider's 5 s either.
 */
const paced = limitTo(4);

const duringDelivery = (taskId: string) => [taskId, '"POST /webhooks/provider"'];

/** Ends the task; the provider makes deliveries until one is taken. */
const finishAndDeliver = async (taskId: string) => {
  await provider.finish(taskId, 'COMPLETED');
  await deliveriesEnded(taskId);
  return (await provider.task(taskId)).deliveries;
};

const settledByWebhook = async (extractionId: string): Promise<void> => {
  expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
  expect(statusesOf(extractionId)).toEqual(['REQUESTED', 'STARTING', 'RUNNING', 'COMPLETED']);
};

describe.each(calls)('receive-webhook, $what,', ({ service, operation, writes, contains }) => {
  test.for(mishapsOf({ service, writes }, tries.prompt))(
    '$title: what was not taken is delivered again, and the webhook settles it',
    ({ kind, when, times = 1, effect }: Mishap) =>
      paced(async () => {
        const { extractionId, taskId } = await running(await plannedUsername({ durationMs: null }));
        const during = duringDelivery(taskId);
        const fault = await planFault({ operation, contains, during, when, times, effect });

        const deliveries = await finishAndDeliver(taskId);
        expect(fault.wasMet()).toBe(true);
        // On a busy machine others may fail as well, but none is ever refused.
        const statuses = deliveries.map(({ status = 500 }) => status);
        expect(statuses.filter((status) => status !== 204 && status < 500)).toEqual([]);
        expect(statuses.at(-1)).toBe(204);
        if (kind !== 'passed') expect(statuses[0]).toBeGreaterThanOrEqual(500);
        await settledByWebhook(extractionId);
      }),
  );
});

describe('receive-webhook, as it reads the signing keys,', () => {
  const service = 'secretsManager';

  /** A process keeps them; so processes of the function are killed until one that is new meets the fault. */
  const untilMet = async (taskId: string, wasMet: () => boolean): Promise<void> => {
    const kills = await planFault({
      operation: notify.operation,
      contains: notify.contains,
      during: duringDelivery(taskId),
      when: 'before',
      times: 100,
      effect: { kind: 'exit' },
    });
    for (let deliveries = 0; deliveries < 20 && !wasMet(); deliveries += 1) {
      await provider.deliverTaskOnce(taskId, { statusOverride: 'COMPLETED' });
    }
    await kills.cancel();
  };

  test.for(mishapsOf({ service, writes: false }, tries.prompt))(
    '$title: nothing is answered as a forgery, and the webhook settles it',
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
        await untilMet(taskId, fault.wasMet);
        expect(fault.wasMet()).toBe(true);

        const deliveries = await finishAndDeliver(taskId);
        expect(deliveries.map(({ status }) => status)).not.toContain(401);
        await settledByWebhook(extractionId);
      }),
  );
});
