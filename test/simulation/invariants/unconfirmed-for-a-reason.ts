import type { Invariant } from './invariant.ts';

/** Every write from the STARTING write on is tried three times. */
const triesOfAWrite = 3;

export const unconfirmedForAReason: Invariant = {
  name: 'unconfirmed-for-a-reason',
  rule: 'UNCONFIRMED is final only if a start call was not answered, if a process was interrupted or a write failed three times between the STARTING write and the next, or if the task belongs to another extraction.',
  needs:
    'Clocks differ by less than the time from the start of a function to its STARTING write. Otherwise a start that was not accepted may end so, too.',
  checks: {
    end: (_fact, world, premise) => {
      const { record } = world;
      if (record?.status !== 'UNCONFIRMED') return undefined;
      premise();
      // Settled as stale too early, but it had no taskId with which to return to RUNNING.
      const { startCalls } = world.provider;
      if (world.scenario.skew > 0 && startCalls.every(({ accepted }) => !accepted)) return undefined;
      const unanswered = startCalls.some(({ answered }) => !answered);
      const attempt = world.attempts.get(record.attemptId ?? '');
      const interrupted =
        attempt === undefined || attempt.interrupted || attempt.failedWrites >= triesOfAWrite;
      const task = world.provider.tasks.get(record.taskId ?? '');
      const ofAnother = task !== undefined && task.extractionId !== record.extractionId;
      return unanswered || interrupted || ofAnother ? undefined : 'UNCONFIRMED, but nothing went wrong.';
    },
  },
};
