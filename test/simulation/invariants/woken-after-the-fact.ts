import type { Invariant } from './invariant.ts';

export const wokenAfterTheFact: Invariant = {
  name: 'woken-after-the-fact',
  says: 'When a webhook wakes the machine, the record says already how the task ended.',
  checks: {
    wake: ({ from }, { record }, premise) => {
      if (from !== 'webhook') return undefined;
      premise();
      return record?.settledAt === undefined ? `Woken while the record is ${record?.status}.` : undefined;
    },
  },
};
