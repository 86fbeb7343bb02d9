import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import type { BreakerName, BreakerSettings } from '../../breaker/breaker-state.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../../breaker/circuit-breaker.ts';
import { telemetry } from '../../observability/observability.ts';
import { dynamoBreakerStore } from '../dynamo-breaker-store.ts';
import { promptClient } from './client-options.ts';
import { requiredVariable } from './environment.ts';

const settingsSchema = v.strictObject({
  failures: v.number(),
  openSeconds: v.number(),
  maxOpenSeconds: v.number(),
  probeSeconds: v.number(),
  slowCallSeconds: v.number(),
});

/** Parses the environment variable `BREAKER`. Throws SyntaxError or ValiError if it is malformed. */
const parseBreakerSettings = (json: string): Required<BreakerSettings> =>
  v.parse(settingsSchema, JSON.parse(json));

/** The breakers of starts and reads. They wait for DynamoDB for seconds at most, because the call to the provider waits for them. */
export const breakersFromEnvironment = (now: () => Date): Readonly<Record<BreakerName, CircuitBreaker>> => {
  const store = dynamoBreakerStore(new DynamoDBClient(promptClient), requiredVariable('BREAKERS_TABLE'));
  const settings = parseBreakerSettings(requiredVariable('BREAKER'));
  const breaker = (name: BreakerName, ownSettings: BreakerSettings) =>
    createCircuitBreaker({
      name,
      store,
      settings: ownSettings,
      now,
      newId: randomUUID,
      schedule: (callback, ms) => {
        const timer = setTimeout(callback, ms);
        return () => clearTimeout(timer);
      },
      telemetry,
    });
  // A read that is slow loses nothing, and an answer with results takes its time.
  const { slowCallSeconds: _, ...ofReads } = settings;
  return { starts: breaker('starts', settings), reads: breaker('reads', ofReads) };
};
