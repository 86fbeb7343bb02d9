import { openShard } from '../../../lib/extraction/open-shard.ts';
import { openStatuses, providerStatuses } from './documented-moves.ts';
import type { Invariant } from './invariant.ts';

export const openWhileUnfinished: Invariant = {
  name: 'open-while-unfinished',
  says: 'A record is in the index, with a time to look at it and no expiry, exactly while something is left to do.',
  outlivesLoss: true,
  checks: {
    row: ({ before, after }, _world, premise) => {
      premise();
      const { status, open, openUntil, expiresAt, collectedAt, collectionError } = after;
      const isOpen = open !== undefined;
      if (isOpen !== (openUntil !== undefined)) return 'Of open and openUntil only one is there.';
      if (isOpen === (expiresAt !== undefined)) return 'A record expires exactly when it is closed.';
      if (isOpen && open !== openShard(after.extractionId)) return 'It is in another shard than its own.';
      if (openStatuses.has(status)) return isOpen ? undefined : `${status} is closed.`;
      const hasCollected = collectedAt !== undefined || collectionError !== undefined;
      if (providerStatuses.has(status)) {
        if (isOpen === hasCollected) return `${status} is ${isOpen ? 'open' : 'closed'}, collected or not.`;
        if (before?.collectedAt !== undefined && after.collectedAt !== before.collectedAt) {
          return 'It was collected twice.';
        }
        return undefined;
      }
      return isOpen && status !== 'TIMED_OUT' ? `${status} is open.` : undefined;
    },
  },
};
