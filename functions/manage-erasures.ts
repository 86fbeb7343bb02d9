import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { dynamoErasureStore, tombstonesOf } from '../lib/aws/dynamo-erasure-store.ts';
import { dynamoExtractionStore, dynamoNameIndex } from '../lib/aws/dynamo-extraction-store.ts';
import { sendEraseTo } from '../lib/aws/send-messages.ts';
import { promptClient, promptQueueClient } from '../lib/aws/wiring/aws-client-timeouts.ts';
import { fingerprintKeyFromEnvironment, requiredVariable } from '../lib/aws/wiring/environment.ts';
import { httpHandler } from '../lib/aws/wiring/http-handler.ts';
import { type AnswerErasureDeps, answerErasure } from '../lib/extraction/api/answer-erasure.ts';
import { telemetry } from '../lib/observability/powertools-telemetry.ts';

const database = new DynamoDBClient(promptClient);
const table = requiredVariable('EXTRACTIONS_TABLE');
const erasures = requiredVariable('ERASURES_TABLE');
const deps: AnswerErasureDeps = {
  extractions: dynamoExtractionStore(database, table),
  index: dynamoNameIndex(database, table),
  erasures: dynamoErasureStore(database, erasures),
  tombstones: (erasureId) => tombstonesOf(database, erasures, erasureId),
  send: sendEraseTo(new SQSClient(promptQueueClient), requiredVariable('ERASE_QUEUE_URL')),
  fingerprintKey: fingerprintKeyFromEnvironment(new SecretsManagerClient(promptClient)),
  newId: randomUUID,
  now: () => new Date(),
  telemetry,
};

export const handler = httpHandler((event) => answerErasure(event, deps));
