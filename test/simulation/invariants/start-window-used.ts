import type { Invariant } from './invariant.ts';

export const startWindowUsed: Invariant = {
  name: 'start-window-used',
  rule: 'The machine abandons no start for an error within the start window.',
  needs:
    'Jitter leaves at least its average of the intervals. A timeout of the wait for the webhook is not an error.',
  checks: {
    row: ({ before, after }, { execution, scenario, windowOver }, premise) => {
      if (after.status !== 'NOT_STARTED' || before?.status === after.status || scenario.jitter < 0.5) return;
      premise();
      const error = execution?.abandonedFor ?? 'States.Timeout';
      return error === 'States.Timeout' || windowOver
        ? undefined
        : `NOT_STARTED within the start window, for ${error}.`;
    },
  },
};
