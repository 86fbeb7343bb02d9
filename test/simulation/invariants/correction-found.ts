import { lifeOf, settings } from '../world/settings.ts';
import type { Invariant } from './invariant.ts';

/** In milliseconds: the last read in grace may have been this long under way when its answer came. */
const longestRead = lifeOf.reconcile * 1_000;

export const correctionFound: Invariant = {
  name: 'correction-found',
  rule: 'A TIMED_OUT stands only where the provider had not ended the task when grace was over, or no longer knew it, or no read told: none got through, or the answer was too large to say how a v2 task ended.',
  needs: 'The task ended before the last read in grace, whose answer may be as old as a function lives.',
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
        world.readers.every(({ fell, failedCalls }) => !fell && failedCalls === 0);
      const says = scenario.task.tooLarge === undefined || scenario.method !== 'credentials';
      return couldBeRead && scenario.outage === undefined && says
        ? `${task.status} could have been read in grace.`
        : undefined;
    },
  },
};
