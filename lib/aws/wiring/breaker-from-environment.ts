import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { pausesOf } from '../../breaker/breaker-store.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../../breaker/circuit-breaker.ts';
import { telemetry } from '../../observability/powertools-telemetry.ts';
import { breakerStoreFromEnvironment } from './breaker-store-and-pauses-from-environment.ts';
import { requiredVariable } from './environment-variables.ts';

const settingsSchema = v.strictObject({
  failures: v.number(),
  openSeconds: v.number(),
  maxOpenSeconds: v.number(),
  turnSeconds: v.number(),
  slowCallSeconds: v.number(),
});

/**
 * The breakers of starts, and the timer of slow ones. Throws SyntaxError or ValiError if the variable `BREAKER` is malformed.
 */
export const breakerFromEnvironment = (
  now: () => Date,
): { readonly breaker: CircuitBreaker; readonly whenSlow: (callback: () => void) => () => void } => {
  const store = breakerStoreFromEnvironment();
  const { slowCallSeconds, ...settings } = v.parse(settingsSchema, JSON.parse(requiredVariable('BREAKER')));
  const isPaused = pausesOf({ store, now, telemetry });
  return {
    breaker: createCircuitBreaker({
      store,
      settings,
      isPaused: () => isPaused('starts'),
      now,
      random: Math.random,
      newId: randomUUID,
      telemetry,
    }),
    whenSlow: (callback) => {
      const timer = setTimeout(callback, slowCallSeconds * 1_000);
      return () => clearTimeout(timer);
    },
  };
};
