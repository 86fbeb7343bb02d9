import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoRefusalStore } from '../dynamo-refusal-store.ts';
import { requiredVariable } from './environment-variables.ts';

/** The table `Refusals`, and for how many days a mark counts. */
export const refusalsFromEnvironment = (database: DynamoDBClient) => ({
  refusals: dynamoRefusalStore(database, requiredVariable('REFUSALS_TABLE')),
  keptDays: Number(requiredVariable('REFUSED_CREDENTIALS_DAYS')),
});
