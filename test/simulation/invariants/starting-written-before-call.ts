import type { Invariant } from './invariant.ts';

export const startingWrittenBeforeCall: Invariant = {
  name: 'starting-written-before-call',
  rule: 'When a start call leaves, the record is STARTING, by the attempt that makes it, and the last answer that this attempt got of the table says so.',
  needs:
    'Clocks differ by less than a function takes from its start to its STARTING write: else the STARTING write may be declared dead by then.',
  checks: {
    startCall: ({ by }, { record, scenario }, premise) => {
      premise();
      const { shown } = by;
      if (shown?.status !== 'STARTING' || !by.attemptIds.includes(shown.attemptId ?? '')) {
        return `A start call leaves of ${by.name}, which was last shown ${shown?.status} of ${shown?.attemptId}.`;
      }
      const mine = record?.attemptId !== undefined && by.attemptIds.includes(record.attemptId);
      const declaredDead = scenario.skew > 0 && record?.status === 'UNCONFIRMED';
      return mine && (record.status === 'STARTING' || declaredDead)
        ? undefined
        : `A start call leaves of ${by.name}, and the record is ${record?.status} of ${record?.attemptId}.`;
    },
  },
};
