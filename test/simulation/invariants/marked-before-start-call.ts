import type { Invariant } from './invariant.ts';

export const markedBeforeStartCall: Invariant = {
  name: 'marked-before-start-call',
  says: 'When a start call leaves, the record bears the mark of the attempt that makes it.',
  needs:
    'Clocks differ by less than a function takes from its start to its mark: else the mark may be declared dead by then.',
  checks: {
    startCall: ({ by }, { record, scenario }, premise) => {
      premise();
      const mine = record?.attemptId !== undefined && by.attemptIds.includes(record.attemptId);
      const declaredDead = scenario.skew > 0 && record?.status === 'UNCONFIRMED';
      return mine && (record.status === 'STARTING' || declaredDead)
        ? undefined
        : `A start call leaves of ${by.name}, and the record is ${record?.status} of ${record?.attemptId}.`;
    },
  },
};
