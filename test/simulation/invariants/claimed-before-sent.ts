import type { Invariant } from './invariant.ts';

export const claimedBeforeSent: Invariant = {
  name: 'claimed-before-sent',
  rule: 'A sweep sends a message only after it has moved the dueAt of its record ahead, and only one of two sweeps does so.',
  checks: {
    sweepSends: ({ by }, world, premise) => {
      premise();
      const claims = world.claims.filter((claim) => claim.by === by);
      if (claims.length === 0) return `${by.name} sends a record that it has not claimed.`;
      if (claims.some(({ moved }) => !moved)) return `${by.name} did not move dueAt.`;
      const latest = world.kernel.now + world.scenario.skew * 1_000;
      return claims.every(({ seen }) => Date.parse(seen) <= latest)
        ? undefined
        : `${by.name} claimed a record that was not due.`;
    },
  },
};
