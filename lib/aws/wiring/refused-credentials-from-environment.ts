import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamoRefusedCredentialsStore } from '../dynamo-refused-credentials-store.ts';
import { requiredVariable } from './environment-variables.ts';

/** The table `Refusals`, and for how many days a mark counts. */
export const refusedCredentialsFromEnvironment = (database: DynamoDBClient) => ({
  refusals: dynamoRefusedCredentialsStore(database, requiredVariable('REFUSALS_TABLE')),
  keptDays: Number(requiredVariable('REFUSED_CREDENTIALS_DAYS')),
});
