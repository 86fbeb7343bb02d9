import { providerStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

export const statusIsTheProviders: Invariant = {
  name: 'status-is-the-providers',
  rule: 'A provider status is what the provider says of the very task that was started for this extraction, and not before it ended.',
  checks: {
    row: ({ before, after }, world, premise) => {
      if (before?.taskId !== after.taskId) {
        premise();
        if (!world.provider.tasks.has(after.taskId ?? '')) return `${after.taskId} is no task.`;
      }
      if (before?.status === after.status || !providerStatuses.has(after.status)) return undefined;
      premise();
      const task = world.provider.tasks.get(after.taskId ?? '');
      if (task === undefined || world.kernel.now < task.endsAt)
        return `${after.status} before the task ended.`;
      if (task.extractionId !== after.extractionId) return `${after.status}, and the task is another's.`;
      return after.status === task.status || after.status === task.readAs
        ? undefined
        : `${after.status}, and the provider says ${task.status}.`;
    },
  },
};
