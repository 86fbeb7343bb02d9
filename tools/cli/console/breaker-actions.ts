import { randomUUID } from 'node:crypto';
import { type BreakerName, breakerNames, closedBreaker, pause } from '../../../lib/breaker/breaker-state.ts';
import { type BreakerStore, changeBreaker } from '../../../lib/breaker/breaker-store.ts';
import type { ConsoleAction } from './actions.ts';

const calls = { starts: 'start calls', reads: 'reads of tasks' } as const;

/** Each process of the functions reads the state again after so long. */
const takesEffect = 'It takes effect within 5 seconds.';

const actionsOf = (store: BreakerStore, name: BreakerName, now: () => Date): readonly ConsoleAction[] => {
  const deps = { now, newVersion: randomUUID };
  return [
    {
      id: `pause-${name}`,
      label: `Pause ${name}`,
      place: 'health',
      changes: true,
      input: 'Reason, for the other operators',
      effect: `No ${calls[name]} are made until somebody resumes them. ${takesEffect}`,
      run: async (_, reason) => {
        await changeBreaker(store, name, (state) => pause(state, reason, now().getTime()), deps);
        return { text: `The ${name} are paused. ${takesEffect}` };
      },
    },
    {
      id: `resume-${name}`,
      label: `Resume ${name}`,
      place: 'health',
      changes: true,
      effect: `The ${calls[name]} go through again, even if the provider's failures had opened the breaker. ${takesEffect}`,
      run: async () => {
        await changeBreaker(store, name, () => ({ ...closedBreaker }), deps);
        return { text: `The ${name} are resumed. ${takesEffect}` };
      },
    },
  ];
};

/** Pausing and resuming the calls to the provider, as `cosecha pause` and `cosecha resume` do it. */
export const breakerActions = (store: BreakerStore, now: () => Date): readonly ConsoleAction[] =>
  breakerNames.flatMap((name) => actionsOf(store, name, now));
