import type { Invariant } from './invariant.ts';

export const requestKept: Invariant = {
  name: 'request-kept',
  rule: 'A request that was answered as accepted is recorded under its fingerprint, with an execution unless it is past starting. Another request under the same key is answered as such.',
  checks: {
    executionStarted: (_fact, { record }) =>
      record === undefined ? 'An execution starts without a record.' : undefined,
    answered: ({ answer, fingerprint }, world, premise) => {
      premise();
      const { record } = world;
      const same = record?.fingerprint === fingerprint;
      if (answer === 'key-reused') return same ? 'The same request was refused as another.' : undefined;
      if (!same) return `It was ${answer}, but the record is that of another request.`;
      return record.status === 'REQUESTED' && record.dueAt !== undefined && !world.windowOver
        ? world.execution === undefined
          ? `It was ${answer}, but nothing will start it.`
          : undefined
        : undefined;
    },
  },
};
