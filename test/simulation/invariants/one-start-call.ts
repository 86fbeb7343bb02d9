import type { Invariant } from './invariant.ts';

export const oneStartCall: Invariant = {
  name: 'one-start-call',
  rule: 'After a start call that the provider accepted, or may have accepted, no other start call is made.',
  needs: 'A 401, a 429, a refused connection and a 4xx other than 408 mean that the call was not accepted.',
  outlivesLoss: true,
  checks: {
    startCall: ({ extractionId }, world, premise) => {
      const earlier = world.provider.startCalls.filter((made) => made.extractionId === extractionId);
      if (earlier.length > 0) premise();
      return earlier.some(({ notAccepted }) => !notAccepted)
        ? 'A start call is made after one that may have been accepted.'
        : undefined;
    },
    end: (_fact, world, premise) => {
      const perhaps = world.provider.startCalls.filter(({ notAccepted }) => !notAccepted).length;
      if (perhaps > 0) premise();
      return perhaps > 1 ? `The provider may have accepted ${perhaps} start calls.` : undefined;
    },
  },
};
