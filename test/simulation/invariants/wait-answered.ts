import type { Invariant } from './invariant.ts';

export const waitAnswered: Invariant = {
  name: 'wait-answered',
  rule: 'A start-task that comes to its end has left its token or answered it: the machine does not wait in vain.',
  checks: {
    waitedOut: ({ token }, world, premise) => {
      if (!world.concluded.has(token)) return undefined;
      premise();
      const left = [...world.tasks.values()].some(({ callbackToken }) => callbackToken === token);
      return left ? undefined : 'start-task ended well, and its token was neither left nor answered.';
    },
  },
};
