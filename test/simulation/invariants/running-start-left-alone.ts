import type { Invariant } from './invariant.ts';

export const runningStartLeftAlone: Invariant = {
  name: 'running-start-left-alone',
  rule: 'Nobody but the attempt itself settles STARTING while its process is alive.',
  needs: 'Clocks differ by less than a function takes from its start to its STARTING write.',
  checks: {
    row: ({ before, after, by }, world, premise) => {
      if (world.scenario.skew > 0 || before?.status !== 'STARTING' || after.status === 'STARTING')
        return undefined;
      premise();
      const owner = world.attempts.get(before.attemptId ?? '');
      // A request of its own that was still on its way when it died is its own.
      return owner?.alive === true && by !== undefined && by !== owner
        ? `${by.name} moved the record of ${owner.name}, which is alive.`
        : undefined;
    },
  },
};
