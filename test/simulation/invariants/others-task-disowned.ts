import { openStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

export const othersTaskDisowned: Invariant = {
  name: 'others-task-disowned',
  rule: 'An extraction that was given the task of another ends as UNCONFIRMED with that reason, and is counted. Nothing of the task is collected.',
  checks: {
    end: (_fact, world, premise) => {
      const { record } = world;
      const task = world.provider.tasks.get(record?.taskId ?? '');
      if (record === undefined || task === undefined || openStatuses.has(record.status)) return undefined;
      if (task.extractionId === record.extractionId) return undefined;
      premise();
      if (record.status !== 'UNCONFIRMED' || record.reason !== 'task-linked-elsewhere') {
        return `It ends as ${record.status}, ${record.reason}.`;
      }
      if (record.collectedAt !== undefined) return 'It collected the results of another extraction.';
      return world.counted.has('TaskLinkedElsewhere') ? undefined : 'It is not counted.';
    },
  },
};
