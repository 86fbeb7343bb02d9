import { dueShardOf } from '../../../lib/extraction/due-shard.ts';
import { openStatuses, providerStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

export const openWhileUnfinished: Invariant = {
  name: 'open-while-unfinished',
  rule: 'A record is in the index, with a dueAt and without an expiry, exactly while something is left to do. A closed one has no notBefore.',
  outlivesLoss: true,
  checks: {
    row: ({ before, after }, _world, premise) => {
      premise();
      const { status, dueShard, dueAt, expiresAt, notBefore, collectedAt, collectionError } = after;
      const isOpen = dueShard !== undefined;
      if (isOpen !== (dueAt !== undefined)) return 'The record has only one of dueShard and dueAt.';
      if (isOpen === (expiresAt !== undefined)) return 'An open record expires, or a closed one does not.';
      if (isOpen && dueShard !== dueShardOf(after.extractionId)) return 'The record is in the wrong shard.';
      if (!isOpen && notBefore !== undefined) return 'A closed record has a notBefore.';
      if (openStatuses.has(status)) return isOpen ? undefined : `${status} is closed.`;
      const hasCollected = collectedAt !== undefined || collectionError !== undefined;
      if (providerStatuses.has(status)) {
        if (isOpen === hasCollected) return `${status} is ${isOpen ? 'open' : 'closed'}, collected or not.`;
        if (before?.collectedAt !== undefined && after.collectedAt !== before.collectedAt) {
          return 'The record was collected twice.';
        }
        return undefined;
      }
      return isOpen && status !== 'TIMED_OUT' ? `${status} is open.` : undefined;
    },
  },
};
