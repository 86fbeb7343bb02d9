import type { Invariant } from './invariant.ts';

export const notStartedMeansNoTask: Invariant = {
  name: 'not-started-means-no-task',
  rule: 'NOT_STARTED is said only where no start call was or will be taken, and only once the machine has given up, the execution broke, or the start window is over.',
  checks: {
    row: ({ before, after }, world, premise) => {
      if (after.status !== 'NOT_STARTED' || before?.status === after.status) return undefined;
      premise();
      return world.windowOver || world.hasAbandonedStart || world.scenario.skew > 0
        ? undefined
        : 'NOT_STARTED, and a start may still be tried.';
    },
    end: (_fact, world) =>
      world.record?.status === 'NOT_STARTED' && world.provider.startCalls.some(({ surelyNot }) => !surelyNot)
        ? 'NOT_STARTED, and a start call may have been taken.'
        : undefined,
  },
};
