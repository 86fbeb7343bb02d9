import { theExtraction } from '../world/the-extraction.ts';
import type { Invariant } from './invariant.ts';

export const deliveryNotLost: Invariant = {
  name: 'delivery-not-lost',
  rule: 'A terminal delivery that was answered with 2xx is what the record ends with, or a StatusDisagreement was counted. The one exception is an orphan, of a task whose extraction ends as UNCONFIRMED, and it is counted.',
  checks: {
    end: (_fact, world, premise) => {
      for (const [taskId, { linked }] of world.acknowledged) {
        if (world.provider.tasks.get(taskId)?.extractionId !== theExtraction) continue;
        premise();
        const counted = world.counted.has('UnlinkedDelivery');
        if (!linked && !counted) return 'An orphan was not counted.';
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
