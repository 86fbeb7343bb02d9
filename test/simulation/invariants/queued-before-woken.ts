import type { Invariant } from './invariant.ts';

export const queuedBeforeWoken: Invariant = {
  name: 'queued-before-woken',
  rule: 'A process that ends the machine has put a message into the queue before, unless it has seen the record closed.',
  checks: {
    wake: ({ by }, world, premise) => {
      if (by?.lastSeen?.dueShard === undefined) return undefined;
      premise();
      return world.queue.hasMessageOf(by)
        ? undefined
        : `${by.name} ends the machine, but the queue has no message for the open record.`;
    },
  },
};
