import type { Invariant } from './invariant.ts';

export const wokenAfterRecorded: Invariant = {
  name: 'woken-after-recorded',
  rule: 'When a webhook wakes the machine, the record says already how the task ended.',
  checks: {
    wake: ({ from }, { record }, premise) => {
      if (from !== 'webhook') return undefined;
      premise();
      return record?.settledAt === undefined ? `Woken while the record is ${record?.status}.` : undefined;
    },
  },
};
