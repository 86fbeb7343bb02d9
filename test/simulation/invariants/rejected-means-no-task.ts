import type { Invariant } from './invariant.ts';

export const rejectedMeansNoTask: Invariant = {
  name: 'rejected-means-no-task',
  rule: 'REJECTED is written only if the provider refused the start, and never if it accepted one.',
  checks: {
    end: (_fact, world, premise) => {
      if (world.record?.status !== 'REJECTED') return undefined;
      premise();
      if (world.provider.tasks.size > 0) return 'REJECTED, but the provider has a task.';
      return world.provider.startCalls.some(({ notAccepted }) => notAccepted)
        ? undefined
        : 'REJECTED, but no start call was refused.';
    },
  },
};
