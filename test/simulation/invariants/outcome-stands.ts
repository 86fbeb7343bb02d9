import { openStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

export const outcomeStands: Invariant = {
  name: 'outcome-stands',
  rule: 'An outcome, and when, by whom and why, changes only by a correction: TIMED_OUT by the provider, UNCONFIRMED by the attempt that holds the taskId.',
  checks: {
    row: ({ before, after, by }, _world, premise) => {
      if (before === undefined || openStatuses.has(before.status)) return undefined;
      premise();
      if (before.status !== after.status) {
        if (before.status === 'TIMED_OUT') return undefined;
        const late =
          before.status === 'UNCONFIRMED' &&
          after.attemptId === before.attemptId &&
          (by === undefined || by.attemptIds.includes(before.attemptId ?? ''));
        return late ? undefined : `${before.status} became ${after.status}.`;
      }
      const same =
        before.settledAt === after.settledAt &&
        before.settledBy === after.settledBy &&
        before.reason === after.reason &&
        before.taskId === after.taskId;
      return same ? undefined : `What was recorded of ${before.status} changed.`;
    },
  },
};
