import { openStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

export const settledAndClosed: Invariant = {
  name: 'settled-and-closed',
  rule: 'In the end every extraction has an outcome and is closed, and every schedule ends.',
  needs: 'Faults stop, time passes, and the sweep runs.',
  outlivesLoss: true,
  checks: {
    end: ({ endless }, { record }, premise) => {
      if (endless) return 'The schedule does not end.';
      if (record === undefined) return undefined;
      premise();
      if (openStatuses.has(record.status)) return `It ends as ${record.status}.`;
      return record.dueShard === undefined ? undefined : `${record.status} is never closed.`;
    },
  },
};
