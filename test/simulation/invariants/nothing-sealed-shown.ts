import type { Invariant } from './invariant.ts';

/** Every secret of the simulated world starts with this. */
const sentinel = 'secret-';

export const nothingSealedShown: Invariant = {
  name: 'nothing-sealed-shown',
  rule: 'A record contains no credential, target, token or result.',
  outlivesLoss: true,
  checks: {
    row: ({ after }, _world, premise) => {
      premise();
      const text = JSON.stringify(after);
      return text.includes(sentinel) || text.includes('sealed-') ? 'A secret is in the record.' : undefined;
    },
  },
};
