import type { Invariant } from './invariant.ts';

export const runningStartLeftAlone: Invariant = {
  name: 'running-start-left-alone',
  rule: 'Only the start attempt itself settles STARTING while its process runs.',
  needs: 'Clocks differ by less than the time from the start of a function to its STARTING write.',
  checks: {
    row: ({ before, after, by }, world, premise) => {
      if (world.scenario.skew > 0 || before?.status !== 'STARTING' || after.status === 'STARTING')
        return undefined;
      premise();
      const owner = world.attempts.get(before.attemptId ?? '');
      // A request that was on its way when its process ended still belongs to that process.
      return owner?.alive === true && by !== undefined && by !== owner
        ? `${by.name} changed the status of a start by ${owner.name}, which still runs.`
        : undefined;
    },
  },
};
