import type { Process } from '../world/process.ts';
import { openStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

const wentWell = ({ fell, failedCalls }: Process): boolean => !fell && failedCalls === 0;

export const oversizedOnce: Invariant = {
  name: 'oversized-once',
  rule: 'An answer over the cap is downloaded once, and the record ends with results-too-large.',
  needs:
    'The process that downloaded it lived on, none of its calls failed, and it had ended when the next one began.',
  checks: {
    oversized: ({ by }, world, premise) => {
      premise();
      const before = world.oversized.find(
        (earlier) =>
          by !== undefined && wentWell(earlier) && !by.alongside.has(earlier) && !earlier.alongside.has(by),
      );
      return before === undefined ? undefined : `${by?.name} downloads what ${before.name} had.`;
    },
    end: (_fact, { record, oversized }, premise) => {
      if (record === undefined || openStatuses.has(record.status) || !oversized.some(wentWell))
        return undefined;
      premise();
      return record.collectionError === 'results-too-large'
        ? undefined
        : `${record.status} does not say that its results were too large.`;
    },
  },
};
