import { lifeOf, settings } from '../world/settings.ts';
import type { Invariant } from './invariant.ts';

/** In milliseconds. The answer to the last read in grace may be this old. */
const longestRead = lifeOf.reconcile * 1_000;

export const correctionFound: Invariant = {
  name: 'correction-found',
  rule: 'A TIMED_OUT is final only if the provider had not ended the task when grace ended, or did not know it any more, or no read returned the status: every read failed, or the answer of a v2 task was over the size limit.',
  needs:
    'The task ended before the last read in grace. The answer to that read may be as old as the timeout of the function.',
  checks: {
    end: (_fact, world, premise) => {
      const { record, scenario } = world;
      if (record?.status !== 'TIMED_OUT') return undefined;
      premise();
      const task = world.provider.tasks.get(record.taskId ?? '');
      const graceEnd = Date.parse(record.settledAt ?? record.deadlineAt) + settings.graceSeconds * 1_000;
      const couldBeRead =
        task !== undefined &&
        task.endsAt < graceEnd - longestRead &&
        task.forgottenAt === Number.POSITIVE_INFINITY &&
        world.readers.every(({ interrupted, failedCalls }) => !interrupted && failedCalls === 0);
      const isReadable = scenario.task.tooLarge === undefined || scenario.method !== 'credentials';
      return couldBeRead && scenario.outage === undefined && isReadable
        ? `${task.status} could have been read in grace.`
        : undefined;
    },
  },
};
