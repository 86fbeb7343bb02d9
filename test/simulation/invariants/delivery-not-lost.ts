import { theExtraction } from '../world/the-extraction.ts';
import type { Invariant } from './invariant.ts';

export const deliveryNotLost: Invariant = {
  name: 'delivery-not-lost',
  rule: 'The record ends with the final status of every delivery that was answered with 2xx, or StatusDisagreement was counted. The only exception is an orphan delivery for a task whose extraction ends as UNCONFIRMED, and it is counted.',
  checks: {
    end: (_fact, world, premise) => {
      for (const [taskId, { linked }] of world.acknowledged) {
        if (world.provider.tasks.get(taskId)?.extractionId !== theExtraction) continue;
        premise();
        const counted = world.counted.has('UnlinkedDelivery');
        if (!linked && !counted) return 'An orphan delivery was not counted.';
        const { record } = world;
        const task = world.provider.tasks.get(taskId);
        if (!linked && record?.status === 'UNCONFIRMED') continue;
        const stands = record?.status === task?.status || world.counted.has('StatusDisagreement');
        if (record?.taskId === taskId && stands) continue;
        return `${task?.status} was acknowledged, and the record is ${record?.status}.`;
      }
      return undefined;
    },
  },
};
