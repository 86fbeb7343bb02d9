import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../lib/aws/dynamo-task-store.ts';
import { readRotatingSecret } from '../lib/aws/read-secret.ts';
import { sendReconcileTo } from '../lib/aws/send-messages.ts';
import { wakeMachine } from '../lib/aws/step-functions.ts';
import { promptClient, promptQueueClient } from '../lib/aws/wiring/aws-client-timeouts.ts';
import { refusedCredentialsFromEnvironment, requiredVariable } from '../lib/aws/wiring/environment.ts';
import { httpHandler } from '../lib/aws/wiring/http-handler.ts';
import { parseTimings } from '../lib/extraction/deadlines.ts';
import { recordDelivery } from '../lib/extraction/record-delivery.ts';
import { endAtTimeout, telemetry } from '../lib/observability/powertools-telemetry.ts';
import { cacheSigningKeys } from '../lib/webhook/cache-signing-keys.ts';
import { explainMismatches } from '../lib/webhook/explain-mismatch.ts';
import {
  answerDelivery,
  type DeliveryEvent,
  type ReceiveDeliveryDeps,
} from '../lib/webhook/receive-delivery.ts';

const now = () => new Date();
const database = new DynamoDBClient(promptClient);
const secrets = new SecretsManagerClient(promptClient);
const signingKeySecret = requiredVariable('WEBHOOK_SIGNING_KEY_SECRET');

const recordDeps = {
  extractions: dynamoExtractionStore(database, requiredVariable('EXTRACTIONS_TABLE')),
  tasks: dynamoTaskStore(database, requiredVariable('TASKS_TABLE'), now),
  ...refusedCredentialsFromEnvironment(database),
  send: sendReconcileTo(new SQSClient(promptQueueClient), requiredVariable('RECONCILE_QUEUE_URL')),
  wake: wakeMachine(new SFNClient(promptClient)),
  now,
  timings: parseTimings(requiredVariable('TIMINGS')),
  telemetry,
};
const deps: ReceiveDeliveryDeps = {
  keys: cacheSigningKeys({
    fetchKeys: () => readRotatingSecret(secrets, signingKeySecret),
    refreshEveryMs: Number(requiredVariable('SIGNING_KEY_REFRESH_SECONDS')) * 1000,
    now,
  }),
  explainMismatch: explainMismatches(telemetry, now),
  record: (delivery) => recordDelivery(delivery, recordDeps),
  telemetry,
};

export const handler = httpHandler((event: DeliveryEvent) => answerDelivery(event, deps), endAtTimeout);
