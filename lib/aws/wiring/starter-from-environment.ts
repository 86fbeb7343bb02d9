import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { parseTimings } from '../../extraction/deadlines.ts';
import type { Extraction } from '../../extraction/record.ts';
import { knownCredentials } from '../../extraction/refused-credentials.ts';
import { type StartInput, startForMachine } from '../../extraction/start/start.ts';
import {
  callByConsent,
  callByCredentials,
  consentReadMsOf,
  type StartCall,
} from '../../extraction/start/start-call.ts';
import type { StoredRequest } from '../../extraction/store.ts';
import { NotConfigured } from '../../not-configured.ts';
import { telemetry } from '../../observability/powertools-telemetry.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { getConsent } from '../../provider/consents/get-consent.ts';
import { type StartExtractionRequest, startExtraction } from '../../provider/extractions/start-extraction.ts';
import { startExtractionV2 } from '../../provider/extractions/start-extraction-v2.ts';
import type { TaskRequest } from '../../provider/tasks/check-task-request.ts';
import { startTask } from '../../provider/tasks/start-task.ts';
import { dynamoExtractionStore } from '../dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../dynamo-task-store.ts';
import { unsealCredentialsWith, unsealTargetWith } from '../seal.ts';
import { sendReconcileTo } from '../send-reconcile.ts';
import { failTask, wakeMachine } from '../step-functions.ts';
import { patientClient, patientQueueClient } from './aws-client-timeouts.ts';
import { breakerFromEnvironment } from './breaker-from-environment.ts';
import { requiredVariable } from './environment-variables.ts';
import { fingerprintKeyFromEnvironment } from './fingerprint-key-from-environment.ts';
import {
  apiKeyFromEnvironment,
  providerFromEnvironment,
  taskTokensFromEnvironment,
} from './provider-from-environment.ts';
import { refusedCredentialsFromEnvironment } from './refused-credentials-from-environment.ts';
import { requestsFromEnvironment } from './requests-from-environment.ts';

/** The answer to a start call is a taskId, which is far shorter. */
const maxAnswerBytes = 64 * 1024;

type CallOf<Request> = [token: string, request: Request, options: { readonly whenRefused: () => void }];

/** A start that fails because the stack is not configured also logs what to configure. */
const startTelemetry: Telemetry = {
  ...telemetry,
  failure: (what, error, about) => {
    telemetry.failure(what, error, about);
    if (!(error instanceof NotConfigured)) return;
    if (error.what === 'secret') telemetry.count('SecretNotFilled');
    telemetry.log(error.message, {}, 'error');
  },
};

/** Builds `startForMachine` from the environment, with its AWS clients and the provider. */
export const starterFromEnvironment = (
  now: () => Date,
): ((input: StartInput) => ReturnType<typeof startForMachine>) => {
  const database = new DynamoDBClient(patientClient);
  const machine = new SFNClient(patientClient);
  const keys = new KMSClient(patientClient);
  const sealKey = requiredVariable('SEAL_KEY_ARN');
  const unsealCredentials = unsealCredentialsWith(keys, sealKey);
  const unsealTarget = unsealTargetWith(keys, sealKey);
  const secrets = new SecretsManagerClient(patientClient);
  const withApiKey = apiKeyFromEnvironment(secrets, now);
  const { connection, sessions } = providerFromEnvironment(withApiKey, {
    now,
    maxAnswerBytes,
    encryptRawCredentials: requiredVariable('ENCRYPT_RAW_CREDENTIALS') === 'true',
  });
  const briefConnection = { ...connection, totalTimeoutMs: consentReadMsOf(connection.totalTimeoutMs) };
  const byCredentials = {
    sessions,
    startTask: (...[token, request, options]: CallOf<TaskRequest>) =>
      startTask(connection, token, request, options),
  };
  const byConsent = {
    taskTokens: taskTokensFromEnvironment(withApiKey, connection, now),
    startExtraction: {
      v1: (...[token, request, options]: CallOf<StartExtractionRequest>) =>
        startExtraction(connection, token, request, options),
      v2: (...[token, request, options]: CallOf<StartExtractionRequest>) =>
        startExtractionV2(connection, token, request, options),
    },
    getConsent: (token: string, consentId: string) => getConsent(briefConnection, token, consentId),
  };
  const marks = refusedCredentialsFromEnvironment(database);
  const key = fingerprintKeyFromEnvironment(secrets);
  const callFor = async (record: Extraction, stored: StoredRequest): Promise<StartCall> => {
    if (record.method === 'consent')
      return callByConsent(record, await unsealTarget(record, stored), byConsent);
    const unsealed = await unsealCredentials(record, stored);
    const known = await knownCredentials(record, unsealed, { key, keptDays: marks.keptDays });
    return { ...callByCredentials(record, unsealed, byCredentials), ...known };
  };
  const deps = {
    extractions: dynamoExtractionStore(database, requiredVariable('EXTRACTIONS_TABLE')),
    tasks: dynamoTaskStore(database, requiredVariable('TASKS_TABLE'), now),
    requests: requestsFromEnvironment(database),
    ...marks,
    callFor,
    send: sendReconcileTo(new SQSClient(patientQueueClient), requiredVariable('RECONCILE_QUEUE_URL')),
    wake: wakeMachine(machine),
    fail: failTask(machine),
    ...breakerFromEnvironment(now),
    logIn: sessions.renew,
    maxCallMs: connection.totalTimeoutMs,
    newAttemptId: randomUUID,
    now,
    timings: parseTimings(requiredVariable('TIMINGS')),
    telemetry: startTelemetry,
  };
  return (input) => startForMachine(input, deps);
};
