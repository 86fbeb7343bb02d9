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
