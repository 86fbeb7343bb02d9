import type { Invariant } from './invariant.ts';

export const wakeNotLost: Invariant = {
  name: 'wake-not-lost',
  rule: 'The machine does not wait until its timeout if start-task stored its callback token and a delivery was acknowledged.',
  checks: {
    waitedOut: ({ token }, world, premise) => {
      premise();
      const { record } = world;
      const task = world.tasks.get(record?.taskId ?? '');
      const linked = task?.callbackToken === token && world.linked.has(token);
      return linked && world.acknowledged.has(task.taskId)
        ? 'The token was stored and the delivery acknowledged, but the machine was not woken.'
        : undefined;
    },
  },
};
