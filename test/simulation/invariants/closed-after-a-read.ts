import { providerStatuses } from './documented-transitions.ts';
import type { Invariant } from './invariant.ts';

/** Closes that need no read. */
const withoutRead = ['results-too-large', 'task-linked-elsewhere'];

export const closedAfterARead: Invariant = {
  name: 'closed-after-a-read',
  rule: 'A record whose task could be read is closed by a process that has tried to read it, however late it is.',
  needs: 'The answer is not known to be over the size limit, and the task is that of the extraction.',
  checks: {
    row: ({ before, after, by }, { oversized }, premise) => {
      if (before?.dueShard === undefined || after.dueShard !== undefined || by === undefined)
        return undefined;
      if (!providerStatuses.has(after.status) && after.status !== 'TIMED_OUT') return undefined;
      if (withoutRead.includes(after.collectionError ?? '')) return undefined;
      if (oversized.length > 0) return undefined;
      premise();
      return by.reads > 0 ? undefined : `${by.name} closes ${after.status}, but has not tried to read.`;
    },
  },
};
