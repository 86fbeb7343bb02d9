import type { Invariant } from './invariant.ts';

export const rejectedMeansNoTask: Invariant = {
  name: 'rejected-means-no-task',
  rule: 'REJECTED is said only where the provider refused, and never where it took the task.',
  checks: {
    end: (_fact, world, premise) => {
      if (world.record?.status !== 'REJECTED') return undefined;
      premise();
      if (world.provider.tasks.size > 0) return 'REJECTED, and the provider has a task.';
      return world.provider.startCalls.some(({ surelyNot }) => surelyNot)
        ? undefined
        : 'REJECTED, and no start call was refused.';
    },
  },
};
