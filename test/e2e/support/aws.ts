import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient } from '@aws-sdk/client-sfn';
import { inject } from 'vitest';
import { queueClient } from '../../../tools/cli/aws/queues.ts';
import { answerMs } from '../time-limits.ts';

/** A call that is not answered by then is made again. Otherwise it would end as a test that took too long, without a name. */
const requestHandler = { requestTimeout: answerMs, throwOnRequestTimeout: true };

const client = { ...inject('cosecha').client, requestHandler };

/** The emulated account as its root sees it. */
export const aws = {
  dynamo: new DynamoDBClient(client),
  streams: new DynamoDBStreamsClient(client),
  lambda: new LambdaClient(client),
  queues: queueClient({ client: inject('cosecha').client, isEmulated: true }),
  stepFunctions: new SFNClient(client),
};
