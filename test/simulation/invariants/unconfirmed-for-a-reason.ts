import type { Invariant } from './invariant.ts';

export const unconfirmedForAReason: Invariant = {
  name: 'unconfirmed-for-a-reason',
  says: 'UNCONFIRMED is the end only where a start call was left unanswered, or a process died or a write failed for good between its mark and what it would have recorded.',
  checks: {
    end: (_fact, world, premise) => {
      const { record } = world;
      if (record?.status !== 'UNCONFIRMED') return undefined;
      premise();
      const unanswered = world.provider.startCalls.some(({ answered }) => !answered);
      const attempt = world.attempts.get(record.attemptId ?? '');
      const fell = attempt === undefined || attempt.fell || attempt.failedCalls > 0;
      return unanswered || fell ? undefined : 'UNCONFIRMED, and nothing went wrong.';
    },
  },
};
