import { providerStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

export const statusIsTheProviders: Invariant = {
  name: 'status-is-the-providers',
  rule: 'A final status of the provider is that of the task that was started for this extraction, and is recorded only after the task ended.',
  checks: {
    row: ({ before, after }, world, premise) => {
      if (before?.taskId !== after.taskId) {
        premise();
        if (!world.provider.tasks.has(after.taskId ?? '')) return `${after.taskId} is not a task.`;
      }
      if (before?.status === after.status || !providerStatuses.has(after.status)) return undefined;
      premise();
      const task = world.provider.tasks.get(after.taskId ?? '');
      if (task === undefined || world.kernel.now < task.endsAt)
        return `${after.status} before the task ended.`;
      if (task.extractionId !== after.extractionId)
        return `${after.status}, but the task belongs to another extraction.`;
      return after.status === task.status || after.status === task.readAs
        ? undefined
        : `${after.status}, but the provider reported ${task.status}.`;
    },
  },
};
