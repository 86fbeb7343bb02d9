import { documentedTransitions } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

export const allowedTransitions: Invariant = {
  name: 'allowed-transitions',
  rule: 'A status changes only as the transition table allows, and a record starts as REQUESTED.',
  outlivesLoss: true,
  checks: {
    row: ({ before, after }, _world, premise) => {
      if (before?.status === after.status) return undefined;
      premise();
      if (before === undefined)
        return after.status === 'REQUESTED' ? undefined : `A record starts as ${after.status}.`;
      return documentedTransitions.has(`${before.status}>${after.status}`)
        ? undefined
        : `${before.status} became ${after.status}.`;
    },
  },
};
