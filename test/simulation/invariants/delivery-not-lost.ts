import type { Invariant } from './invariant.ts';

export const deliveryNotLost: Invariant = {
  name: 'delivery-not-lost',
  says: 'A terminal delivery that was answered with 2xx is what the record ends with, or a StatusDisagreement was counted. The one exception is an orphan, of a task that is linked to no extraction, and it is counted.',
  needs:
    'A task that start-task could not link, as it died and was not run again, counts as an orphan once its deadline has passed.',
  checks: {
    end: (_fact, world, premise) => {
      for (const [taskId, { linked, orphan }] of world.acknowledged) {
        premise();
        const counted = world.observed.has('UnlinkedDelivery');
        if (!linked && !counted) return 'An orphan was not counted.';
        const { record } = world;
        const task = world.provider.tasks.get(taskId);
        if (orphan || (!linked && record?.status === 'UNCONFIRMED')) continue;
        if (record?.taskId === taskId) {
          if (record.status === task?.status || world.observed.has('StatusDisagreement')) continue;
          // What nobody was told of cannot be compared with what a read says.
          if (!linked && record.status === task?.readAs) continue;
        }
        return `${task?.status} was acknowledged, and the record is ${record?.status}.`;
      }
      return undefined;
    },
  },
};
