import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import middy from '@middy/core';
import { patientClient } from '../lib/aws/client-options.ts';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../lib/aws/dynamo-task-store.ts';
import { required, SettingMissing } from '../lib/aws/environment.ts';
import { failTask } from '../lib/aws/fail-task.ts';
import { providerClient } from '../lib/aws/provider-client.ts';
import { SecretNotFilled } from '../lib/aws/read-secret.ts';
import { unsealCredentialsWith, unsealTargetWith } from '../lib/aws/seal.ts';
import { storedTaskTokens } from '../lib/aws/stored-task-tokens.ts';
import { untilSetUp } from '../lib/aws/until-set-up.ts';
import { wakeMachine } from '../lib/aws/wake-machine.ts';
import { callByConsent } from '../lib/extraction/call-by-consent.ts';
import { callByCredentials } from '../lib/extraction/call-by-credentials.ts';
import { parseTimings } from '../lib/extraction/parse-timings.ts';
import type { Extraction } from '../lib/extraction/record.ts';
import type { ExecutionInput } from '../lib/extraction/request.ts';
import type { StartOutcome } from '../lib/extraction/start.ts';
import type { StartCall } from '../lib/extraction/start-call.ts';
import { startForMachine } from '../lib/extraction/start-for-machine.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import {
  log,
  logAbout,
  logFailure,
  observability,
  observe,
  observeAbout,
} from '../lib/observability/observability.ts';
import type { ExtractionRequest } from '../lib/provider/extraction-request.ts';
import { startExtraction } from '../lib/provider/start-extraction.ts';
import { startExtractionV2 } from '../lib/provider/start-extraction-v2.ts';
import { startTask, type TaskRequest } from '../lib/provider/start-task.ts';

/** The payload of the state StartTask: the execution's input, its callback token and which attempt this is. */
type StartTaskEvent = ExecutionInput & { readonly taskToken: string; readonly attempt: number };

/** A start answers with a taskId; more than this is not one. */
const maxAnswerBytes = 64 * 1024;

const now = () => new Date();
const database = new DynamoDBClient(patientClient);
const machine = new SFNClient(patientClient);
const keys = new KMSClient(patientClient);
const sealKey = required('SEAL_KEY_ARN');
const unsealCredentials = unsealCredentialsWith(keys, sealKey);
const unsealTarget = unsealTargetWith(keys, sealKey);
const secrets = new SecretsManagerClient(patientClient);
const { connection, sessions } = providerClient(secrets, {
  now,
  maxAnswerBytes,
  encryptRawCredentials: required('ENCRYPT_RAW_CREDENTIALS') === 'true',
});
const byCredentials = {
  sessions,
  startTask: (sessionToken: string, request: TaskRequest) => startTask(connection, sessionToken, request),
};
const taskTokens = storedTaskTokens(secrets, connection, now);
const byConsent = {
  taskTokens: { ...taskTokens, current: (target: string) => untilSetUp(() => taskTokens.current(target)) },
  startExtraction: {
    v1: (token: string, request: ExtractionRequest) => startExtraction(connection, token, request),
    v2: (token: string, request: ExtractionRequest) => startExtractionV2(connection, token, request),
  },
};

const callFor = async (record: Extraction, sealed: string): Promise<StartCall> =>
  record.method === 'consent'
    ? callByConsent(record, await unsealTarget(record.extractionId, sealed), byConsent)
    : callByCredentials(record, await unsealCredentials(record.extractionId, sealed), byCredentials);

const failureOf = {
  token: 'No token could be had.',
  start: 'The start call failed.',
  write: 'The record could not be written, and is tried again.',
} as const;

const deps = {
  extractions: dynamoExtractionStore(database, required('EXTRACTIONS_TABLE')),
  tasks: dynamoTaskStore(database, required('TASKS_TABLE'), now),
  wake: wakeMachine(machine),
  fail: failTask(machine),
  newAttemptId: randomUUID,
  now,
  timings: parseTimings(required('TIMINGS')),
  onTaken: (taskId: string) => {
    logAbout({ taskId });
    log.info('The provider has taken the task.');
  },
  onConcluded: (outcome: StartOutcome) => {
    log.info('Start concluded.', { ...outcome });
    if (outcome.kind === 'retry' && outcome.error !== 'StartInProgress') observe(outcome.error);
  },
  onBroken: (error: unknown) => logFailure('The start broke off.', error),
  onFailure: (what: 'token' | 'start' | 'write', error: unknown) => {
    logFailure(failureOf[what], error);
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof SecretNotFilled) observe('SecretNotFilled');
    if (cause instanceof SecretNotFilled || cause instanceof SettingMissing) log.error(cause.message);
  },
};

const startTaskHandler = async (event: StartTaskEvent): Promise<void> => {
  const { extractionId, requestId, sealedCredentials, taskToken, attempt } = event;
  logAbout({ extractionId });
  await startForMachine(
    { extractionId, requestId, callbackToken: taskToken, callbackAttempt: attempt },
    {
      ...deps,
      observe: observeAbout({ extractionId }),
      callFor: (record) => callFor(record, sealedCredentials),
    },
  );
};

export const handler = middy<StartTaskEvent, void>()
  .use(observability())
  .use(concealFailures())
  .handler(startTaskHandler);
