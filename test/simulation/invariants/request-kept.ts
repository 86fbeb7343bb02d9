import type { Invariant } from './invariant.ts';

export const requestKept: Invariant = {
  name: 'request-kept',
  rule: 'Whoever is told that a request was taken finds it recorded under its fingerprint, with an execution unless it is past starting; another request under the same key is told so.',
  checks: {
    executionStarted: (_fact, { record }) =>
      record === undefined ? 'An execution begins, and there is no record.' : undefined,
    answered: ({ answer, fingerprint }, world, premise) => {
      premise();
      const { record } = world;
      const same = record?.fingerprint === fingerprint;
      if (answer === 'key-reused') return same ? 'The same request was taken for another.' : undefined;
      if (!same) return `It was ${answer}, and the record is another request's.`;
      return record.status === 'REQUESTED' && record.dueAt !== undefined && !world.windowOver
        ? world.execution === undefined
          ? `It was ${answer}, and nothing will start it.`
          : undefined
        : undefined;
    },
  },
};
