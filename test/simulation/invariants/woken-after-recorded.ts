import type { Invariant } from './invariant.ts';

export const wokenAfterRecorded: Invariant = {
  name: 'woken-after-recorded',
  rule: 'When a webhook wakes the machine, the record already has its outcome.',
  checks: {
    wake: ({ from }, { record }, premise) => {
      if (from !== 'webhook') return undefined;
      premise();
      return record?.settledAt === undefined
        ? `The machine is woken while the record is ${record?.status}.`
        : undefined;
    },
  },
};
