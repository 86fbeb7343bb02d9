import { openStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

export const outcomeStands: Invariant = {
  name: 'outcome-stands',
  rule: 'An outcome, with its time, source and reason, changes only by a correction of TIMED_OUT, or from UNCONFIRMED by the start attempt that has the taskId.',
  checks: {
    row: ({ before, after, by }, _world, premise) => {
      if (before === undefined || openStatuses.has(before.status)) return undefined;
      premise();
      if (before.status !== after.status) {
        if (before.status === 'TIMED_OUT') return undefined;
        const isLateStart =
          before.status === 'UNCONFIRMED' &&
          after.attemptId === before.attemptId &&
          (by === undefined || by.attemptIds.includes(before.attemptId ?? ''));
        return isLateStart ? undefined : `${before.status} became ${after.status}.`;
      }
      const same =
        before.settledAt === after.settledAt &&
        before.settledBy === after.settledBy &&
        before.reason === after.reason &&
        before.taskId === after.taskId;
      return same ? undefined : `The attributes of ${before.status} changed.`;
    },
  },
};
