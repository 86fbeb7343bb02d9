import type { Invariant } from './invariant.ts';

export const requestOfItsRecord: Invariant = {
  name: 'request-of-its-record',
  rule: 'A start call under the mark of a record carries what was sealed for that very record, and not for one before it that was erased or lost under the same id.',
  outlivesLoss: true,
  checks: {
    startCall: ({ by, sealed }, world, premise) => {
      const { record } = world;
      const isMarked = record?.attemptId !== undefined && by.attemptIds.includes(record.attemptId);
      if (!isMarked) return undefined;
      premise();
      return world.isOfLostRecord(sealed)
        ? 'A record is started with the request of another that was there before it.'
        : undefined;
    },
  },
};
