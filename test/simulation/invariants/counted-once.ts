import type { World } from '../world/world.ts';
import { providerStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

const movesTo = (status: string, { transitions }: World): number =>
  transitions.filter((move) => move.endsWith(`>${status}`)).length;

/** What may be counted, all of them together, at most as often as it happened. */
const happened: readonly {
  readonly counts: readonly string[];
  readonly times: (world: World) => number;
}[] = [
  {
    counts: ['SettledByWebhook', 'SettledByStart', 'SettledByReconcile'],
    times: ({ record }) => (providerStatuses.has(record?.status ?? '') ? 1 : 0),
  },
  { counts: ['Collected'], times: ({ record }) => (record?.collectedAt === undefined ? 0 : 1) },
  { counts: ['TimedOut'], times: (world) => movesTo('TIMED_OUT', world) },
  { counts: ['NotStarted'], times: (world) => movesTo('NOT_STARTED', world) },
  { counts: ['Rejected'], times: (world) => movesTo('REJECTED', world) },
  { counts: ['Unconfirmed'], times: (world) => movesTo('UNCONFIRMED', world) },
];

export const countedOnce: Invariant = {
  name: 'counted-once',
  rule: 'An outcome and a collection are counted at most as often as they came to be, whoever writes the same at the same time.',
  needs:
    'No two processes write the same within one millisecond: there is nothing then to tell them apart by.',
  checks: {
    end: (_fact, world, premise) => {
      if (world.scenario.clock === 'coarse') return undefined;
      for (const { counts, times } of happened) {
        const counted = counts.reduce((sum, name) => sum + (world.counted.get(name) ?? 0), 0);
        if (counted > 0) premise();
        const did = times(world);
        if (counted > did) return `${counts.join(' and ')}: counted ${counted} times, and it was ${did}.`;
      }
      return undefined;
    },
  },
};
