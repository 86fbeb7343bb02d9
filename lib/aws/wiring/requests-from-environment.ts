import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { RequestStore } from '../../extraction/store.ts';
import { dynamoRequestStore } from '../dynamo-request-store.ts';
import { removingClient } from './aws-client-timeouts.ts';
import { requiredVariable } from './environment-variables.ts';

/** The table `Requests`. Removals have a client of their own, which waits for a second at most. */
export const requestsFromEnvironment = (database: DynamoDBClient): RequestStore =>
  dynamoRequestStore(database, requiredVariable('REQUESTS_TABLE'), new DynamoDBClient(removingClient));
