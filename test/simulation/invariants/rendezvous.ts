import type { Task } from '../../../lib/extraction/store.ts';
import type { Invariant } from './invariant.ts';

/** Tokens are numbered in the order of their creation. */
const ageOf = ({ callbackToken }: Task): number => Number(callbackToken?.split('-').at(-1) ?? 0);

export const rendezvous: Invariant = {
  name: 'rendezvous',
  rule: 'In Tasks, the first status and the first extraction stay, and an older token never replaces a newer one.',
  checks: {
    taskRow: ({ before, after }, _world, premise) => {
      if (before === undefined) return undefined;
      premise();
      if (before.taskStatus !== undefined && after.taskStatus !== before.taskStatus) {
        return 'A status was replaced.';
      }
      if (before.extractionId !== undefined && after.extractionId !== before.extractionId) {
        return 'A link was replaced.';
      }
      return ageOf(after) < ageOf(before) ? 'An older token replaced a newer one.' : undefined;
    },
  },
};
