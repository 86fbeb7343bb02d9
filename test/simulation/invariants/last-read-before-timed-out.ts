import type { Invariant } from './invariant.ts';

export const lastReadBeforeTimedOut: Invariant = {
  name: 'last-read-before-timed-out',
  rule: 'TIMED_OUT is written past the deadline, by a process that has tried to read the task, unless its answer is known to be over the size limit.',
  checks: {
    row: ({ before, after, by }, world, premise) => {
      if (after.status !== 'TIMED_OUT' || before?.status === 'TIMED_OUT') return undefined;
      premise();
      if (world.kernel.now + world.scenario.skew * 1_000 < Date.parse(after.deadlineAt))
        return 'TIMED_OUT before the deadline.';
      const knows = by === undefined || by.reads > 0 || world.oversized.length > 0;
      return !knows ? `${by.name} has not tried to read.` : undefined;
    },
  },
};
