import type { Invariant } from './invariant.ts';

export const rendezvous: Invariant = {
  name: 'rendezvous',
  says: 'In Tasks the first status and the first extraction stay, and an older token never replaces a younger one.',
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
      return (after.callbackAttempt ?? 0) < (before.callbackAttempt ?? 0)
        ? 'An older token replaced a younger one.'
        : undefined;
    },
  },
};
