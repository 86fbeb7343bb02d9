import type { Process } from '../world/process.ts';
import { openStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

const wentWell = ({ interrupted, failedCalls }: Process): boolean => !interrupted && failedCalls === 0;

export const oversizedOnce: Invariant = {
  name: 'oversized-once',
  rule: 'An answer over the size limit is downloaded once, and the record ends with results-too-large.',
  needs:
    'The process that downloaded it was not interrupted, none of its calls failed, and it had ended when the next one started.',
  checks: {
    oversized: ({ by }, world, premise) => {
      premise();
      const before = world.oversized.find(
        (earlier) =>
          by !== undefined && wentWell(earlier) && !by.alongside.has(earlier) && !earlier.alongside.has(by),
      );
      return before === undefined
        ? undefined
        : `${by?.name} downloads again what ${before.name} has downloaded.`;
    },
    end: (_fact, { record, oversized }, premise) => {
      if (record === undefined || openStatuses.has(record.status) || !oversized.some(wentWell))
        return undefined;
      premise();
      return record.collectionError === 'results-too-large'
        ? undefined
        : `${record.status} has no collectionError results-too-large.`;
    },
  },
};
