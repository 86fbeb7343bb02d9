import { documentedMoves } from './documented-moves.ts';
import type { Invariant } from './invariant.ts';

export const tableOfMoves: Invariant = {
  name: 'table-of-moves',
  says: 'A status changes only as the transition table has it, and a record begins as REQUESTED.',
  outlivesLoss: true,
  checks: {
    row: ({ before, after }, _world, premise) => {
      if (before?.status === after.status) return undefined;
      premise();
      if (before === undefined) return after.status === 'REQUESTED' ? undefined : `Begun as ${after.status}.`;
      return documentedMoves.has(`${before.status}>${after.status}`)
        ? undefined
        : `${before.status} became ${after.status}.`;
    },
  },
};
