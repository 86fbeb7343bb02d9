import type { Invariant } from './invariant.ts';

export const waitsAsAsked: Invariant = {
  name: 'waits-as-asked',
  rule: 'After a 429 with Retry-After, no other start call is made before that time.',
  needs: 'The clocks agree.',
  checks: {
    startCall: (_fact, { provider, kernel, scenario }, premise) => {
      if (provider.busyUntil === 0 || scenario.skew > 0) return undefined;
      premise();
      return kernel.now < provider.busyUntil
        ? 'A start call is made before the time that the provider named.'
        : undefined;
    },
  },
};
