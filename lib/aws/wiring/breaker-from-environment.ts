import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import { type CircuitBreaker, createCircuitBreaker } from '../../breaker/circuit-breaker.ts';
import { telemetry } from '../../observability/powertools-telemetry.ts';
import { operatorSettingsOf } from '../../shared-item/operator-settings.ts';
import { dynamoBreakerStore, dynamoPermitStore } from '../dynamo-breaker-store.ts';
import { requiredVariable } from './environment.ts';

/**
 * The table `Breakers`, and what an operator has set there. A process reads the latter once for both its breakers and its rate. If a call
 * to the provider waits for the table, `client` must wait for seconds at most (`promptClient`).
 */
export const breakersFromEnvironment = (client: DynamoDBClient, now: () => Date) => {
  const table = requiredVariable('BREAKERS_TABLE');
  const store = dynamoBreakerStore(client, table);
  const permits = dynamoPermitStore(client, table);
  return { store, permits, operator: operatorSettingsOf({ store, now, telemetry }), now };
};

export type BreakersOfProcess = ReturnType<typeof breakersFromEnvironment>;

const settingsSchema = v.strictObject({
  failures: v.number(),
  openSeconds: v.number(),
  maxOpenSeconds: v.number(),
  turnSeconds: v.number(),
  slowCallSeconds: v.number(),
});

/** The breakers of starts, and the timer that reports slow ones. Throws SyntaxError or ValiError if the variable `BREAKER` is malformed. */
export const breakerFromEnvironment = ({
  store,
  operator,
  now,
}: BreakersOfProcess): {
  readonly breaker: CircuitBreaker;
  readonly whenSlow: (callback: () => void) => () => void;
} => {
  const { slowCallSeconds, ...settings } = v.parse(settingsSchema, JSON.parse(requiredVariable('BREAKER')));
  return {
    breaker: createCircuitBreaker({
      store,
      settings,
      isPaused: () => operator.isPaused('starts'),
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
