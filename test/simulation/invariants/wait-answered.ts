import type { Invariant } from './invariant.ts';

export const waitAnswered: Invariant = {
  name: 'wait-answered',
  rule: 'A start-task that returns has stored its callback token or answered it, so that the machine does not wait in vain.',
  checks: {
    waitedOut: ({ token }, world, premise) => {
      if (!world.returned.has(token)) return undefined;
      premise();
      const isStored = [...world.tasks.values()].some(({ callbackToken }) => callbackToken === token);
      return isStored ? undefined : 'start-task returned, but its token was neither stored nor answered.';
    },
  },
};
