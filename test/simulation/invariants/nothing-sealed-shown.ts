import type { Invariant } from './invariant.ts';

/** Every secret of the simulated world begins with this. */
const sentinel = 'secret-';

export const nothingSealedShown: Invariant = {
  name: 'nothing-sealed-shown',
  rule: 'No credential, target, token or result is in a record.',
  outlivesLoss: true,
  checks: {
    row: ({ after }, _world, premise) => {
      premise();
      const shown = JSON.stringify(after);
      return shown.includes(sentinel) || shown.includes('sealed-') ? 'A secret is in the record.' : undefined;
    },
  },
};
