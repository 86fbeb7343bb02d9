import type { Invariant } from './invariant.ts';

export const deliveryNotLost: Invariant = {
  name: 'delivery-not-lost',
  says: 'A terminal delivery that was answered with 2xx is what the record ends with, or a StatusDisagreement was counted. The one exception is an orphan, of a task that is not linked to any extraction when its record is closed, and it is counted.',
  checks: {
    end: (_fact, world, premise) => {
      for (const [taskId, { orphan }] of world.acknowledged) {
        premise();
        if (orphan) {
          if (world.observed.has('UnlinkedDelivery')) continue;
          return 'An orphan was not counted.';
        }
        const { record } = world;
        const status = world.provider.tasks.get(taskId)?.status;
        if (record?.taskId === taskId) {
          if (record.status === status || world.observed.has('StatusDisagreement')) continue;
        } else if (record?.status === 'UNCONFIRMED' && world.observed.has('UnlinkedDelivery')) {
          continue;
        }
        return `${status} was acknowledged, and the record is ${record?.status}.`;
      }
      return undefined;
    },
  },
};
