import { openStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

/** Outcomes that the transition table of the design has a way out of. */
const replaceable = new Set(['TIMED_OUT', 'UNCONFIRMED']);

export const finalStands: Invariant = {
  name: 'final-stands',
  rule: 'A record with isFinal keeps its outcome and isFinal, and every outcome has it except TIMED_OUT and UNCONFIRMED.',
  checks: {
    row: ({ before, after }, _world, premise) => {
      if (before?.isFinal === true) {
        premise();
        const attributes = ['status', 'settledAt', 'settledBy', 'reason', 'taskId', 'isFinal'] as const;
        const changed = attributes.filter((name) => before[name] !== after[name]);
        return changed.length === 0 ? undefined : `A final outcome changed: ${changed.join(', ')}.`;
      }
      const mustHave = !openStatuses.has(after.status) && !replaceable.has(after.status);
      return mustHave && after.isFinal !== true ? `${after.status} lacks isFinal.` : undefined;
    },
  },
};
