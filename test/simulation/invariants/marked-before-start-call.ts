import type { Invariant } from './invariant.ts';

export const markedBeforeStartCall: Invariant = {
  name: 'marked-before-start-call',
  says: 'When a start call leaves, the record bears the mark of the attempt that makes it.',
  needs: 'The process is alive, hence within its timeout.',
  checks: {
    startCall: ({ by }, world, premise) => {
      premise();
      const { record } = world;
      const mine = record?.attemptId !== undefined && by.attemptIds.includes(record.attemptId);
      return mine && record.status === 'STARTING'
        ? undefined
        : `A start call leaves of ${by.name}, and the record is ${record?.status} of ${record?.attemptId}.`;
    },
  },
};
