import { settings } from '../world/settings.ts';
import type { Invariant } from './invariant.ts';

export const startInTime: Invariant = {
  name: 'start-in-time',
  rule: 'No start call is made after the start window, except by an attempt that started within it.',
  checks: {
    startCall: (_fact, { record, kernel }, premise) => {
      premise();
      const most = settings.startWindowSeconds + settings.startTimeoutSeconds;
      return record !== undefined && kernel.now > Date.parse(record.requestedAt) + most * 1_000
        ? 'A start call is made long after the start window.'
        : undefined;
    },
  },
};
