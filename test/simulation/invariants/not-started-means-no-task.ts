import type { Invariant } from './invariant.ts';

export const notStartedMeansNoTask: Invariant = {
  name: 'not-started-means-no-task',
  rule: 'NOT_STARTED is written only if no start call was or will be accepted, and only after the machine abandoned the start, the execution broke, or the start window ended.',
  checks: {
    row: ({ before, after }, world, premise) => {
      if (after.status !== 'NOT_STARTED' || before?.status === after.status) return undefined;
      premise();
      return world.windowOver || world.hasAbandonedStart || world.scenario.skew > 0
        ? undefined
        : 'NOT_STARTED, but a start may still be tried.';
    },
    end: (_fact, world) =>
      world.record?.status === 'NOT_STARTED' &&
      world.provider.startCalls.some(({ notAccepted }) => !notAccepted)
        ? 'NOT_STARTED, but a start call may have been accepted.'
        : undefined,
  },
};
