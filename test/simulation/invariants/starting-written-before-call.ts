import type { Invariant } from './invariant.ts';

export const startingWrittenBeforeCall: Invariant = {
  name: 'starting-written-before-call',
  rule: 'When a start call is made, the record is STARTING by that attempt, and the last answer of the table to the attempt confirms it.',
  needs:
    'Clocks differ by less than the time from the start of a function to its STARTING write. Otherwise the start may have been settled as stale.',
  checks: {
    startCall: ({ by }, { record, scenario }, premise) => {
      premise();
      const { lastSeen } = by;
      if (lastSeen?.status !== 'STARTING' || !by.attemptIds.includes(lastSeen.attemptId ?? '')) {
        return `${by.name} makes a start call, but last read ${lastSeen?.status} by ${lastSeen?.attemptId}.`;
      }
      const mine = record?.attemptId !== undefined && by.attemptIds.includes(record.attemptId);
      const settledAsStale = scenario.skew > 0 && record?.status === 'UNCONFIRMED';
      return mine && (record.status === 'STARTING' || settledAsStale)
        ? undefined
        : `${by.name} makes a start call, but the record is ${record?.status} by ${record?.attemptId}.`;
    },
  },
};
