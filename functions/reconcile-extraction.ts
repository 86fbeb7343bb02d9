import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { patientClient } from '../lib/aws/client-options.ts';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../lib/aws/dynamo-task-store.ts';
import { required } from '../lib/aws/environment.ts';
import { providerClient } from '../lib/aws/provider-client.ts';
import { readExecutionInputOf } from '../lib/aws/read-execution-input.ts';
import { unsealTargetWith } from '../lib/aws/seal.ts';
import { storeResultsIn } from '../lib/aws/store-results.ts';
import { storedTaskTokens } from '../lib/aws/stored-task-tokens.ts';
import { answerReconciled, NotYet } from '../lib/extraction/answer-reconciled.ts';
import { parseTimings } from '../lib/extraction/parse-timings.ts';
import type { Reading } from '../lib/extraction/reading.ts';
import { readingOfExtraction } from '../lib/extraction/reading-of-extraction.ts';
import { readingOfTask } from '../lib/extraction/reading-of-task.ts';
import { type Reconciled, reconcile, type Situation } from '../lib/extraction/reconcile.ts';
import { type ReconcileAnswer, type ReconcileEvent, situationOf } from '../lib/extraction/reconcile-event.ts';
import type { ConsentExtraction, Extraction } from '../lib/extraction/record.ts';
import { type Swept, sweep } from '../lib/extraction/sweep.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { countSweep, countSweepBegun } from '../lib/observability/count-sweep.ts';
import {
  log,
  logAbout,
  logFailure,
  observability,
  observe,
  observeAbout,
  publishNow,
} from '../lib/observability/observability.ts';
import { readExtraction } from '../lib/provider/read-extraction.ts';
import { readTask } from '../lib/provider/read-task.ts';
import { withSession } from '../lib/provider/with-session.ts';
import { withTaskToken } from '../lib/provider/with-task-token.ts';

const now = () => new Date();
const database = new DynamoDBClient(patientClient);
const secrets = new SecretsManagerClient(patientClient);
const { connection, sessions } = providerClient(secrets, {
  now,
  maxAnswerBytes: Number(required('RESULTS_MAX_BYTES')),
});
const taskTokens = storedTaskTokens(secrets, connection, now);
const readExecutionInput = readExecutionInputOf(new SFNClient(patientClient), required('STATE_MACHINE_ARN'));
const unsealTarget = unsealTargetWith(new KMSClient(patientClient), required('SEAL_KEY_ARN'));

/** Whose consent it is stands sealed in the execution's input, for the machine, the rule and the sweep alike. */
const readByConsent = async (
  { extractionId, variant }: ConsentExtraction,
  taskId: string,
): Promise<Reading> => {
  const { sealedCredentials } = await readExecutionInput(extractionId);
  const { target } = await unsealTarget(extractionId, sealedCredentials);
  return readingOfExtraction(
    await withTaskToken(taskTokens, target, (token) =>
      readExtraction(connection, token, { variant, taskId }),
    ),
  );
};

const readByCredentials = async (taskId: string): Promise<Reading> =>
  readingOfTask(await withSession(sessions, (token) => readTask(connection, token, taskId)));

const deps = {
  extractions: dynamoExtractionStore(database, required('EXTRACTIONS_TABLE')),
  tasks: dynamoTaskStore(database, required('TASKS_TABLE'), now),
  read: (record: Extraction, taskId: string) =>
    record.method === 'consent' ? readByConsent(record, taskId) : readByCredentials(taskId),
  storeResults: storeResultsIn(new S3Client(patientClient), required('RESULTS_BUCKET')),
  now,
  timings: parseTimings(required('TIMINGS')),
  onFailure: (what: 'read' | 'store', error: unknown) =>
    logFailure(what === 'read' ? 'The task could not be read.' : 'The results could not be stored.', error),
};

const reconcileOne = async (extractionId: string, situation: Situation): Promise<Reconciled> => {
  const observed = observeAbout({ extractionId });
  const reconciled = await reconcile(extractionId, situation, { ...deps, observe: observed });
  const record = reconciled.kind === 'gone' ? undefined : reconciled.record;
  log.info('Reconciled.', {
    extractionId,
    caller: situation.caller,
    outcome: reconciled.kind,
    ...(reconciled.kind === 'not-yet' ? { why: reconciled.why } : {}),
    ...(record === undefined ? {} : { status: record.status, taskId: record.taskId }),
  });
  return reconciled;
};

const sweepDue = async (context: Context): Promise<Swept> => {
  const swept = await sweep({
    extractions: deps.extractions,
    reconcile: (extractionId) => reconcileOne(extractionId, { caller: 'sweep' }),
    now,
    timings: deps.timings,
    random: Math.random,
    onBegin: () => countSweepBegun(observe, publishNow),
    remainingMs: () => context.getRemainingTimeInMillis(),
    // A login and a read, and as much again as five seconds hold of our own work.
    reserveMs: 2 * connection.totalTimeoutMs + 5_000,
    onFailure: (extractionId, error) => {
      log.warn('The sweep could not bring an extraction forward.', { extractionId });
      logFailure('Reconcile failed.', error);
    },
  });
  log.info('Swept.', { ...swept });
  countSweep(swept, observe);
  return swept;
};

const reconcileExtraction = async (
  event: ReconcileEvent,
  context: Context,
): Promise<ReconcileAnswer | Swept> => {
  if (event.trigger === 'sweep') return sweepDue(context);
  const { extractionId } = event;
  logAbout({ extractionId });
  const situation = situationOf(event);
  return answerReconciled(extractionId, await reconcileOne(extractionId, situation), situation.caller);
};

export const handler = middy<ReconcileEvent, ReconcileAnswer | Swept>()
  .use(observability())
  .use(concealFailures(NotYet))
  .handler(reconcileExtraction);
