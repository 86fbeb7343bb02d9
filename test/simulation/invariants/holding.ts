import { phaseOf } from '../../../lib/breaker/breaker-state.ts';
import type { Invariant } from './invariant.ts';

export const breakerRespected: Invariant = {
  name: 'breaker-respected',
  rule: 'No start call is made by a process that saw the breaker of starts open or paused, except by the elected probe.',
  needs: 'The process could read the state, and write it if it wanted to be the probe.',
  outlivesLoss: true,
  checks: {
    startCall: ({ by }, { startsSeen, kernel }, premise) => {
      const seen = startsSeen.get(by);
      if (seen === undefined) return undefined;
      const phase = phaseOf(seen, kernel.now);
      if (phase === 'closed') return undefined;
      premise();
      const isProbe = phase === 'half-open' && seen.opened?.probe?.id.startsWith(`${by.name}/`) === true;
      return isProbe ? undefined : `${by.name} makes a start call although it saw the breaker ${phase}.`;
    },
  },
};

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
