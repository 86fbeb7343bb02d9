import type { Invariant } from './invariant.ts';

export const requestOfItsRecord: Invariant = {
  name: 'request-of-its-record',
  rule: 'The start call of a record has the request that was sealed for that record, and never that of an earlier record under the same id.',
  outlivesLoss: true,
  checks: {
    startCall: ({ by, sealed }, world, premise) => {
      const { record } = world;
      const isClaimed = record?.attemptId !== undefined && by.attemptIds.includes(record.attemptId);
      if (!isClaimed) return undefined;
      premise();
      return world.isOfLostRecord(sealed)
        ? 'A record is started with the request of an earlier record.'
        : undefined;
    },
  },
};
