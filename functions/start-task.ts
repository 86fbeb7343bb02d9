import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import middy from '@middy/core';
import { patientClient } from '../lib/aws/client-options.ts';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../lib/aws/dynamo-task-store.ts';
import { required } from '../lib/aws/environment.ts';
import { failTask } from '../lib/aws/fail-task.ts';
import { providerClient } from '../lib/aws/provider-client.ts';
import { SecretNotFilled } from '../lib/aws/read-secret.ts';
import { unsealWith } from '../lib/aws/seal.ts';
import { wakeMachine } from '../lib/aws/wake-machine.ts';
import type { ExecutionInput } from '../lib/extraction/request.ts';
import { type StartOutcome, start } from '../lib/extraction/start.ts';
import { parseTimings } from '../lib/extraction/timings.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { log, logAbout, logFailure, observability, observe } from '../lib/observability/observability.ts';
import { startTask, type TaskRequest } from '../lib/provider/start-task.ts';

/** The payload of the state StartTask: the execution's input, its callback token and which attempt this is. */
type StartTaskEvent = ExecutionInput & { readonly taskToken: string; readonly attempt: number };

/** A start answers with a taskId; more than this is not one. */
const maxAnswerBytes = 64 * 1024;

const now = () => new Date();
const database = new DynamoDBClient(patientClient);
const machine = new SFNClient(patientClient);
const wake = wakeMachine(machine);
const fail = failTask(machine);
const unseal = unsealWith(new KMSClient(patientClient), required('SEAL_KEY_ARN'));
const { connection, sessions } = providerClient(new SecretsManagerClient(patientClient), {
  now,
  maxAnswerBytes,
});
const deps = {
  extractions: dynamoExtractionStore(database, required('EXTRACTIONS_TABLE')),
  tasks: dynamoTaskStore(database, required('TASKS_TABLE'), now),
  sessions,
  startTask: (sessionToken: string, request: TaskRequest) => startTask(connection, sessionToken, request),
  newAttemptId: randomUUID,
  now,
  timings: parseTimings(required('TIMINGS')),
  observe,
  onTaken: (taskId: string) => {
    logAbout({ taskId });
    log.info('The provider has taken the task.');
  },
  onFailure: (what: 'login' | 'start', error: unknown) => {
    logFailure(what === 'login' ? 'The login failed.' : 'The start call failed.', error);
    if (error instanceof Error && error.cause instanceof SecretNotFilled) {
      observe('SecretNotFilled');
      log.error(error.cause.message);
    }
  },
};

/** Tells the machine, through the token, what it cannot wait for. */
const answer = async (event: StartTaskEvent, outcome: StartOutcome): Promise<void> => {
  switch (outcome.kind) {
    case 'waiting':
      return;
    case 'settled':
      await wake(event.taskToken, event.extractionId);
      return;
    case 'retry':
      await fail(event.taskToken, outcome.error, 'The start may be tried again.');
  }
};

const startTaskHandler = async (event: StartTaskEvent): Promise<void> => {
  const { extractionId, sealedCredentials, taskToken, attempt } = event;
  logAbout({ extractionId });
  try {
    const outcome = await start(
      { extractionId, callbackToken: taskToken, callbackAttempt: attempt },
      { ...deps, unseal: () => unseal(extractionId, sealedCredentials) },
    );
    log.info('Start concluded.', { ...outcome });
    await answer(event, outcome);
  } catch (error) {
    // Reported through the token, whose names hold, rather than thrown: what a function throws reaches the
    // machine under names that depend on its runtime.
    logFailure('The start broke off.', error);
    await fail(taskToken, 'StartFailed', 'See the log of start-task.');
  }
};

export const handler = middy<StartTaskEvent, void>()
  .use(observability())
  .use(concealFailures())
  .handler(startTaskHandler);
