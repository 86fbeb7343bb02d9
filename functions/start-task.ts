import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import middy from '@middy/core';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../lib/aws/dynamo-task-store.ts';
import { unsealCredentialsWith, unsealTargetWith } from '../lib/aws/seal.ts';
import { sendReconcileTo } from '../lib/aws/send-reconcile.ts';
import { failTask, wakeMachine } from '../lib/aws/step-functions.ts';
import { breakersFromEnvironment } from '../lib/aws/wiring/breakers-from-environment.ts';
import { patientClient, patientQueueClient } from '../lib/aws/wiring/client-options.ts';
import { requiredVariable } from '../lib/aws/wiring/environment.ts';
import {
  providerFromEnvironment,
  taskTokensFromEnvironment,
} from '../lib/aws/wiring/provider-from-environment.ts';
import type { ExecutionInput } from '../lib/extraction/api/request-extraction.ts';
import type { Journal } from '../lib/extraction/journal.ts';
import { parseTimings } from '../lib/extraction/parse-timings.ts';
import { callByConsent, callByCredentials, type StartCall } from '../lib/extraction/prepare-start-call.ts';
import type { Extraction } from '../lib/extraction/record.ts';
import { startForMachine } from '../lib/extraction/start-for-machine.ts';
import { NotConfigured } from '../lib/not-configured.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { count, journal, log, logAbout, observability } from '../lib/observability/observability.ts';
import { startExtraction } from '../lib/provider/extractions/start-extraction.ts';
import type { StartExtractionRequest } from '../lib/provider/extractions/start-extraction-request.ts';
import { startExtractionV2 } from '../lib/provider/extractions/start-extraction-v2.ts';
import { startTask } from '../lib/provider/tasks/start-task.ts';
import type { TaskRequest } from '../lib/provider/tasks/task-request.ts';

/** The payload of the state StartTask: the execution's input, the callback token and the number of the attempt. */
type StartTaskEvent = ExecutionInput & { readonly callbackToken: string; readonly callbackAttempt: number };

/** The answer to a start call is a taskId, which is far shorter. */
const maxAnswerBytes = 64 * 1024;

const now = () => new Date();
const database = new DynamoDBClient(patientClient);
const machine = new SFNClient(patientClient);
const keys = new KMSClient(patientClient);
const sealKey = requiredVariable('SEAL_KEY_ARN');
const unsealCredentials = unsealCredentialsWith(keys, sealKey);
const unsealTarget = unsealTargetWith(keys, sealKey);
const secrets = new SecretsManagerClient(patientClient);
const breakers = breakersFromEnvironment(now);
const { connection, sessions } = providerFromEnvironment(secrets, {
  now,
  maxAnswerBytes,
  alsoCountLoginsFor: breakers.reads,
  encryptRawCredentials: requiredVariable('ENCRYPT_RAW_CREDENTIALS') === 'true',
});
const byCredentials = {
  sessions,
  startTask: (sessionToken: string, request: TaskRequest) => startTask(connection, sessionToken, request),
};
const byConsent = {
  taskTokens: taskTokensFromEnvironment(secrets, connection, now),
  startExtraction: {
    v1: (token: string, request: StartExtractionRequest) => startExtraction(connection, token, request),
    v2: (token: string, request: StartExtractionRequest) => startExtractionV2(connection, token, request),
  },
};

const callFor = async (record: Extraction, sealed: string): Promise<StartCall> =>
  record.method === 'consent'
    ? callByConsent(record, await unsealTarget(record.extractionId, sealed), byConsent)
    : callByCredentials(record, await unsealCredentials(record.extractionId, sealed), byCredentials);

/** A start that fails because the stack is not configured also logs what to configure. */
const startJournal: Journal = {
  ...journal,
  failure: (what, error, about) => {
    journal.failure(what, error, about);
    if (!(error instanceof NotConfigured)) return;
    if (error.what === 'secret') count('SecretNotFilled');
    log.error(error.message);
  },
};

const deps = {
  extractions: dynamoExtractionStore(database, requiredVariable('EXTRACTIONS_TABLE')),
  tasks: dynamoTaskStore(database, requiredVariable('TASKS_TABLE'), now),
  send: sendReconcileTo(new SQSClient(patientQueueClient), requiredVariable('RECONCILE_QUEUE_URL')),
  wake: wakeMachine(machine),
  fail: failTask(machine),
  breaker: breakers.starts,
  logIn: sessions.renew,
  newAttemptId: randomUUID,
  now,
  timings: parseTimings(requiredVariable('TIMINGS')),
  journal: startJournal,
};

const startTaskHandler = async (event: StartTaskEvent): Promise<void> => {
  const { extractionId, requestId, sealed, callbackToken, callbackAttempt } = event;
  logAbout({ extractionId });
  await startForMachine(
    { extractionId, requestId, callbackToken, callbackAttempt, sealed },
    { ...deps, callFor: (record) => callFor(record, sealed) },
  );
};

export const handler = middy<StartTaskEvent, void>()
  .use(observability())
  .use(concealFailures())
  .handler(startTaskHandler);
