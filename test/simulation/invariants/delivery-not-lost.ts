import type { Invariant } from './invariant.ts';

export const deliveryNotLost: Invariant = {
  name: 'delivery-not-lost',
  says: 'A terminal delivery that was answered with 2xx is what the record ends with, or a StatusDisagreement was counted. The one exception is an orphan after UNCONFIRMED, or of a record that was never begun to be linked, and it is counted.',
  checks: {
    end: (_fact, world, premise) => {
      for (const taskId of world.acknowledged) {
        premise();
        const task = world.provider.tasks.get(taskId);
        const { record } = world;
        if (record?.taskId !== taskId) {
          if (record?.status !== 'UNCONFIRMED')
            return `It was acknowledged, and the record is ${record?.status}.`;
          if (!world.observed.has('UnlinkedDelivery')) return 'An orphan was not counted.';
          continue;
        }
        if (record.status === task?.status || world.observed.has('StatusDisagreement')) continue;
        return `${task?.status} was acknowledged, and the record is ${record.status}.`;
      }
      return undefined;
    },
  },
};
