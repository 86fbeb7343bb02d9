import type { Invariant } from './invariant.ts';

/** Every write from the STARTING write on is tried three times before it is abandoned. */
const triesOfAWrite = 3;

export const unconfirmedForAReason: Invariant = {
  name: 'unconfirmed-for-a-reason',
  rule: "UNCONFIRMED is the end only where a start call was left unanswered, a process died or a write failed three times between its STARTING write and what it would have recorded, or the task is another extraction's.",
  needs:
    'Clocks differ by less than a function takes from its start to its STARTING write; else a start that was not taken may end so too.',
  checks: {
    end: (_fact, world, premise) => {
      const { record } = world;
      if (record?.status !== 'UNCONFIRMED') return undefined;
      premise();
      // Declared dead too early, but it had no taskId to come back with.
      const { startCalls } = world.provider;
      if (world.scenario.skew > 0 && startCalls.every(({ taken }) => !taken)) return undefined;
      const unanswered = startCalls.some(({ answered }) => !answered);
      const attempt = world.attempts.get(record.attemptId ?? '');
      const fell = attempt === undefined || attempt.fell || attempt.failedWrites >= triesOfAWrite;
      const task = world.provider.tasks.get(record.taskId ?? '');
      const anothers = task !== undefined && task.extractionId !== record.extractionId;
      return unanswered || fell || anothers ? undefined : 'UNCONFIRMED, and nothing went wrong.';
    },
  },
};
