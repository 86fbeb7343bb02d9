import type { Invariant } from './invariant.ts';

export const oneStartCall: Invariant = {
  name: 'one-start-call',
  rule: 'After a start call that the provider took, or may have taken, no other one leaves.',
  needs: 'A 401, a 429, a refused connection and a 4xx but 408 say that nothing was taken.',
  outlivesLoss: true,
  checks: {
    startCall: ({ extractionId }, world, premise) => {
      const earlier = world.provider.startCalls.filter((made) => made.extractionId === extractionId);
      if (earlier.length > 0) premise();
      return earlier.some(({ surelyNot }) => !surelyNot)
        ? 'A start call leaves after one that may have been taken.'
        : undefined;
    },
    end: (_fact, world, premise) => {
      const perhaps = world.provider.startCalls.filter(({ surelyNot }) => !surelyNot).length;
      if (perhaps > 0) premise();
      return perhaps > 1 ? `The provider may have taken ${perhaps} start calls.` : undefined;
    },
  },
};
