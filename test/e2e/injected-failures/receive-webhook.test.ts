/** @module-tag slow */

import { describe, expect, test } from 'vitest';
import { limitParallelCalls } from '../../../tools/acceptance/limit-parallel-calls.ts';
import { deliveriesEnded, provider } from '../support/call-extractions.ts';
import { closed, statusesOf } from '../support/records.ts';
import { running } from '../support/running-extractions.ts';
import { type AwsCall, awsCalls, injectedFailures, tries } from './failures-of-aws-calls.ts';
import { planFailure, planKills, untilInjected } from './plan-function-faults.ts';

type Call = AwsCall & {
  readonly call: string;
  /** Only the first call of a process. */
  readonly inNewProcess?: true;
};

const { updateItem } = awsCalls;

const recordStatus = { call: 'storing the status', ...updateItem, contains: ['":at"'] };

const calls: readonly Call[] = [
  recordStatus,
  { call: 'settling the extraction', ...updateItem, contains: ['":status"', '":was0"'] },
  { call: 'sending the message', ...awsCalls.sendMessage },
  { call: 'waking the machine', ...awsCalls.succeedTask },
  { call: 'reading the signing keys', ...awsCalls.readSecret, contains: ['AWSCURRENT'], inNewProcess: true },
];

/**
 * The emulator starts new processes for every test: for its start, its deliveries and each killed one. All tests at once
 * would keep 2 cores so busy that deliveries of other files time out as well.
 */
const paced = limitParallelCalls(4);

/** Ends the task, and returns the provider's deliveries once one is accepted. */
const finishAndDeliver = async (taskId: string) => {
  await provider.finish(taskId, 'COMPLETED');
  await deliveriesEnded(taskId);
  return (await provider.task(taskId)).deliveries;
};

describe.each(calls)('receive-webhook, $call', (call) => {
  test.for(injectedFailures(call, tries.prompt))(
    '$title: the provider retries, and the webhook settles the extraction',
    (failure) =>
      paced(async () => {
        const { extractionId, taskId } = await running();
        const during = [taskId, '"POST /webhooks/provider"'];
        const fault = await planFailure(call, failure, during);
        if (call.inNewProcess) {
          const kills = await planKills({ ...recordStatus, during });
          await untilInjected(fault, () => provider.deliverTaskOnce(taskId, { statusOverride: 'COMPLETED' }));
          await kills.cancel();
        }

        const deliveries = await finishAndDeliver(taskId);
        expect(fault.wasInjected()).toBe(true);
        // On a busy machine further deliveries may fail, but none is refused.
        const statuses = deliveries.map(({ status = 500 }) => status);
        expect(statuses.filter((status) => status !== 204 && status < 500)).toEqual([]);
        expect(statuses.at(-1)).toBe(204);
        if (failure.kind !== 'once' && !call.inNewProcess) expect(statuses[0]).toBeGreaterThanOrEqual(500);
        expect(await closed(extractionId)).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook' });
        expect(statusesOf(extractionId)).toEqual(['REQUESTED', 'STARTING', 'RUNNING', 'COMPLETED']);
      }),
  );
});
