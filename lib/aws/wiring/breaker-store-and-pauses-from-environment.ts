import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type BreakerStore, pausesOf } from '../../breaker/breaker-store.ts';
import { telemetry } from '../../observability/powertools-telemetry.ts';
import { dynamoBreakerStore } from '../dynamo-breaker-store.ts';
import { promptClient } from './aws-client-timeouts.ts';
import { requiredVariable } from './environment-variables.ts';

/** It waits for DynamoDB for seconds at most, because the call to the provider waits for it. */
export const breakerStoreFromEnvironment = (): BreakerStore =>
  dynamoBreakerStore(new DynamoDBClient(promptClient), requiredVariable('BREAKERS_TABLE'));

/** Whether an operator paused calls. */
export const pausesFromEnvironment = (now: () => Date): ReturnType<typeof pausesOf> =>
  pausesOf({ store: breakerStoreFromEnvironment(), now, telemetry });
