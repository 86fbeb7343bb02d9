import { providerStatuses } from './documented-moves.ts';
import type { Invariant } from './invariant.ts';

const settlements = ['SettledByWebhook', 'SettledByStart', 'SettledByReconcile'];

export const countedOnce: Invariant = {
  name: 'counted-once',
  says: 'What a share is computed from is not counted twice: of a settlement there is at most one metric.',
  needs: 'No two processes settle within one millisecond: there is nothing then to tell them apart by.',
  checks: {
    end: (_fact, world, premise) => {
      if (world.scenario.clock === 'coarse') return undefined;
      const counted = settlements.reduce((sum, name) => sum + (world.observed.get(name) ?? 0), 0);
      if (counted > 0) premise();
      const settled = providerStatuses.has(world.record?.status ?? '') ? 1 : 0;
      return counted > settled ? `${settled} settlement was counted ${counted} times.` : undefined;
    },
  },
};
