import type { World } from '../world/world.ts';
import { providerStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

const transitionsTo = (status: string, { transitions }: World): number =>
  transitions.filter((transition) => transition.endsWith(`>${status}`)).length;

/** Metrics, and how often they may be counted together. */
const happened: readonly {
  readonly counts: readonly string[];
  readonly times: (world: World) => number;
}[] = [
  {
    counts: ['SettledByWebhook', 'SettledByStart', 'SettledByReconcile'],
    times: ({ record }) => (providerStatuses.has(record?.status ?? '') ? 1 : 0),
  },
  { counts: ['Collected'], times: ({ record }) => (record?.collectedAt === undefined ? 0 : 1) },
  { counts: ['TimedOut'], times: (world) => transitionsTo('TIMED_OUT', world) },
  { counts: ['NotStarted'], times: (world) => transitionsTo('NOT_STARTED', world) },
  { counts: ['Rejected'], times: (world) => transitionsTo('REJECTED', world) },
  { counts: ['Unconfirmed'], times: (world) => transitionsTo('UNCONFIRMED', world) },
];

export const countedOnce: Invariant = {
  name: 'counted-once',
  rule: 'An outcome and a collection are counted at most as often as they occurred, even if several processes write them at the same time.',
  needs: 'No two processes write the same within one millisecond, because nothing distinguishes such writes.',
  checks: {
    end: (_fact, world, premise) => {
      if (world.scenario.clock === 'coarse') return undefined;
      for (const { counts, times } of happened) {
        const counted = counts.reduce((sum, name) => sum + (world.counted.get(name) ?? 0), 0);
        if (counted > 0) premise();
        const did = times(world);
        if (counted > did)
          return `${counts.join(' and ')}: counted ${counted} times, but it happened ${did} times.`;
      }
      return undefined;
    },
  },
};
