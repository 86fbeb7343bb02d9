import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { dynamoErasureStore } from '../lib/aws/dynamo-erasure-store.ts';
import { dynamoExtractionStore, dynamoNameIndex } from '../lib/aws/dynamo-extraction-store.ts';
import { dynamoRequestStore } from '../lib/aws/dynamo-request-store.ts';
import { dynamoStartLine } from '../lib/aws/dynamo-start-line.ts';
import { removalsOnAws } from '../lib/aws/removals-on-aws.ts';
import { sendEraseTo } from '../lib/aws/send-messages.ts';
import { wakeMachine } from '../lib/aws/step-functions.ts';
import { patientClient, patientQueueClient } from '../lib/aws/wiring/aws-client-timeouts.ts';
import { requiredVariable } from '../lib/aws/wiring/environment.ts';
import { parseTimings } from '../lib/extraction/deadlines.ts';
import { eraseMessages } from '../lib/extraction/erase/erase-messages.ts';
import { backgroundHandler } from '../lib/observability/background-handler.ts';
import { telemetry } from '../lib/observability/powertools-telemetry.ts';

const now = () => new Date();
const database = new DynamoDBClient(patientClient);
const tables = {
  extractions: requiredVariable('EXTRACTIONS_TABLE'),
  tasks: requiredVariable('TASKS_TABLE'),
  refusals: requiredVariable('REFUSALS_TABLE'),
};

const deps = {
  extractions: dynamoExtractionStore(database, tables.extractions),
  index: dynamoNameIndex(database, tables.extractions),
  requests: dynamoRequestStore(database, requiredVariable('REQUESTS_TABLE')),
  startLine: dynamoStartLine(database, requiredVariable('START_LINE_TABLE')),
  wake: wakeMachine(new SFNClient(patientClient)),
  erasures: dynamoErasureStore(database, requiredVariable('ERASURES_TABLE')),
  removals: removalsOnAws({
    dynamo: database,
    s3: new S3Client(patientClient),
    tables,
    bucket: requiredVariable('RESULTS_BUCKET'),
    now,
  }),
  send: sendEraseTo(new SQSClient(patientQueueClient), requiredVariable('ERASE_QUEUE_URL')),
  now,
  timings: parseTimings(requiredVariable('TIMINGS')),
  telemetry,
};

export const handler = backgroundHandler(({ Records }: SQSEvent) => eraseMessages(Records, deps));
