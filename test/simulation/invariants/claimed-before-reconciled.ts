import type { Invariant } from './invariant.ts';

export const claimedBeforeReconciled: Invariant = {
  name: 'claimed-before-reconciled',
  rule: 'A sweep begins with a record only after moving its dueAt ahead, and of two sweeps only one does.',
  checks: {
    sweepReconciles: ({ by }, world, premise) => {
      premise();
      const claims = world.claims.filter((claim) => claim.by === by);
      if (claims.length === 0) return `${by.name} looks at a record that it has not claimed.`;
      if (claims.some(({ moved }) => !moved)) return `${by.name} left dueAt where it was.`;
      const latest = world.kernel.now + world.scenario.skew * 1_000;
      return claims.every(({ seen }) => Date.parse(seen) <= latest)
        ? undefined
        : `${by.name} claimed a record that was not due.`;
    },
  },
};
