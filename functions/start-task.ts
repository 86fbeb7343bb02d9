import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { dynamoRequestStore } from '../lib/aws/dynamo-request-store.ts';
import { dynamoTaskStore } from '../lib/aws/dynamo-task-store.ts';
import { unsealCredentialsWith, unsealTargetWith } from '../lib/aws/seal.ts';
import { sendReconcileTo } from '../lib/aws/send-messages.ts';
import { failTask, wakeMachine } from '../lib/aws/step-functions.ts';
import {
  patientClient,
  patientQueueClient,
  promptClient,
  removingClient,
} from '../lib/aws/wiring/aws-client-timeouts.ts';
import {
  breakerFromEnvironment,
  breakersFromEnvironment,
} from '../lib/aws/wiring/breaker-from-environment.ts';
import {
  fingerprintKeyFromEnvironment,
  refusedCredentialsFromEnvironment,
  requiredVariable,
} from '../lib/aws/wiring/environment.ts';
import {
  apiKeyFromEnvironment,
  providerFromEnvironment,
  taskTokensFromEnvironment,
} from '../lib/aws/wiring/provider-from-environment.ts';
import { startLineFromEnvironment } from '../lib/aws/wiring/start-line-from-environment.ts';
import { parseTimings } from '../lib/extraction/deadlines.ts';
import { type StartInput, startForMachine } from '../lib/extraction/start/start.ts';
import { consentReadMsOf, startCallFrom } from '../lib/extraction/start/start-call.ts';
import { backgroundHandler } from '../lib/observability/background-handler.ts';
import { telemetry } from '../lib/observability/powertools-telemetry.ts';
import { getConsent } from '../lib/provider/consents/get-consent.ts';
import { startExtraction, startExtractionV2 } from '../lib/provider/extractions/start-extraction.ts';
import { startTask } from '../lib/provider/tasks/start-task.ts';

/** The answer to a start call is a taskId, which is far shorter. */
const maxAnswerBytes = 64 * 1024;

const now = () => new Date();
const database = new DynamoDBClient(patientClient);
const machine = new SFNClient(patientClient);
const keys = new KMSClient(patientClient);
const secrets = new SecretsManagerClient(patientClient);
const sealKey = requiredVariable('SEAL_KEY_ARN');
const breakers = breakersFromEnvironment(new DynamoDBClient(promptClient), now);
const { breaker, whenSlow } = breakerFromEnvironment(breakers);
const startLine = startLineFromEnvironment(database, new LambdaClient(promptClient), breakers);
const { refusals, keptDays } = refusedCredentialsFromEnvironment(database);

const withApiKey = apiKeyFromEnvironment(secrets, now);
const { connection, sessions } = providerFromEnvironment(withApiKey, {
  now,
  maxAnswerBytes,
  encryptRawCredentials: requiredVariable('ENCRYPT_RAW_CREDENTIALS') === 'true',
});
const briefConnection = { ...connection, totalTimeoutMs: consentReadMsOf(connection.totalTimeoutMs) };

const deps = {
  extractions: dynamoExtractionStore(database, requiredVariable('EXTRACTIONS_TABLE')),
  tasks: dynamoTaskStore(database, requiredVariable('TASKS_TABLE'), now),
  requests: dynamoRequestStore(
    database,
    requiredVariable('REQUESTS_TABLE'),
    new DynamoDBClient(removingClient),
  ),
  refusals,
  keptDays,
  callFor: startCallFrom({
    unsealCredentials: unsealCredentialsWith(keys, sealKey),
    unsealTarget: unsealTargetWith(keys, sealKey),
    provider: {
      sessions,
      taskTokens: taskTokensFromEnvironment(withApiKey, connection, now),
      startTask: (...call) => startTask(connection, ...call),
      startExtraction: {
        v1: (...call) => startExtraction(connection, ...call),
        v2: (...call) => startExtractionV2(connection, ...call),
      },
      getConsent: (...call) => getConsent(briefConnection, ...call),
    },
    key: fingerprintKeyFromEnvironment(secrets),
    keptDays,
  }),
  send: sendReconcileTo(new SQSClient(patientQueueClient), requiredVariable('RECONCILE_QUEUE_URL')),
  wake: wakeMachine(machine),
  fail: failTask(machine),
  breaker,
  whenSlow,
  startLine,
  logIn: sessions.renew,
  maxCallMs: connection.totalTimeoutMs,
  newAttemptId: randomUUID,
  now,
  timings: parseTimings(requiredVariable('TIMINGS')),
  telemetry,
};

export const handler = backgroundHandler(async (input: StartInput): Promise<void> => {
  telemetry.about({ extractionId: input.extractionId });
  await startForMachine(input, deps);
});
