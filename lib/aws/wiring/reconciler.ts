import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Attempt } from '../../breaker/circuit-breaker.ts';
import { parseTimings, type Timings } from '../../extraction/parse-timings.ts';
import { countReads } from '../../extraction/reconcile/count-reads.ts';
import { findSealedTarget } from '../../extraction/reconcile/find-sealed-target.ts';
import { guardReads, type ReadTask, tokensFor } from '../../extraction/reconcile/guard-reads.ts';
import {
  parseRead,
  type Reading,
  readingOfExtraction,
  readTaskWith,
} from '../../extraction/reconcile/reading.ts';
import { reconcileAndContinue } from '../../extraction/reconcile/reconcile.ts';
import type { ReconcileCaller, ReconcileResult } from '../../extraction/reconcile/steps.ts';
import type { ConsentExtraction } from '../../extraction/record.ts';
import { telemetry } from '../../observability/observability.ts';
import { readExtraction } from '../../provider/extractions/read-extraction.ts';
import { fetchTask, parseTask } from '../../provider/tasks/read-task.ts';
import { tokensOf } from '../../provider/tokens/task-tokens.ts';
import { withSession } from '../../provider/tokens/with-session.ts';
import type { Connection } from '../../provider/transport/send-request.ts';
import { dynamoExtractionStore } from '../dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../dynamo-task-store.ts';
import { sendReconcileTo } from '../reconcile-queue.ts';
import { unsealTargetWith } from '../seal.ts';
import { readExecutionInputOf } from '../step-functions.ts';
import { storeResultsIn } from '../store-results.ts';
import { breakersFromEnvironment } from './breakers-from-environment.ts';
import { patientClient, patientQueueClient } from './client-options.ts';
import { requiredVariable } from './environment.ts';
import { providerFromEnvironment, taskTokensFromEnvironment } from './provider-from-environment.ts';

/** The timeout of a read although the breaker is open: most of them hang, and their consumers have others to reconcile. */
const lastReadMs = 5_000;

export type Reconciler = {
  /**
   * Reconciles one extraction, logs the result, and sends the message for the next time. Throws what the stores throw.
   */
  readonly reconcileOne: (extractionId: string, caller: ReconcileCaller) => Promise<ReconcileResult>;
  readonly timings: Timings;
};

/** Builds `reconcile` from the environment, with its AWS clients and the provider. */
export const reconcilerFromEnvironment = (now: () => Date): Reconciler => {
  const database = new DynamoDBClient(patientClient);
  const secrets = new SecretsManagerClient(patientClient);
  const breakers = breakersFromEnvironment(now);
  const { connection, sessions } = providerFromEnvironment(secrets, {
    now,
    alsoCountLoginsFor: breakers.starts,
    maxAnswerBytes: Number(requiredVariable('RESULTS_MAX_BYTES')),
  });
  const taskTokens = taskTokensFromEnvironment(secrets, connection, now);
  const readInput = readExecutionInputOf(new SFNClient(patientClient), requiredVariable('STATE_MACHINE_ARN'));
  const tasks = dynamoTaskStore(database, requiredVariable('TASKS_TABLE'), now);
  const unsealTarget = unsealTargetWith(new KMSClient(patientClient), requiredVariable('SEAL_KEY_ARN'));

  const connectionFor = ({ kind }: Attempt): Connection =>
    kind === 'last'
      ? { ...connection, totalTimeoutMs: Math.min(connection.totalTimeoutMs, lastReadMs) }
      : connection;

  const readByConsent = async (
    { extractionId, variant }: ConsentExtraction,
    taskId: string,
    attempt: Attempt,
  ): Promise<Reading> => {
    const sealed = await findSealedTarget(extractionId, taskId, { tasks, readInput });
    const { target } = await unsealTarget(extractionId, sealed);
    return readingOfExtraction(
      await withSession(tokensFor(tokensOf(taskTokens, target), attempt), (token) =>
        attempt.make(() =>
          readExtraction(connectionFor(attempt), token, { variant, taskId, parse: parseRead }),
        ),
      ),
    );
  };

  const readByCredentials = (taskId: string, attempt: Attempt): Promise<Reading> =>
    withSession(tokensFor(sessions, attempt), (token) =>
      attempt.make(() =>
        readTaskWith(async () =>
          parseTask(await fetchTask(connectionFor(attempt), token, taskId), parseRead),
        ),
      ),
    );

  const readByMethod: ReadTask = (record, taskId, attempt) =>
    record.method === 'consent' ? readByConsent(record, taskId, attempt) : readByCredentials(taskId, attempt);

  const extractions = dynamoExtractionStore(database, requiredVariable('EXTRACTIONS_TABLE'));
  const deps = {
    extractions,
    tasks,
    storeResults: storeResultsIn(new S3Client(patientClient), requiredVariable('RESULTS_BUCKET')),
    now,
    timings: parseTimings(requiredVariable('TIMINGS')),
    telemetry,
    send: sendReconcileTo(new SQSClient(patientQueueClient), requiredVariable('RECONCILE_QUEUE_URL')),
  };

  const reconcileOne = async (extractionId: string, caller: ReconcileCaller): Promise<ReconcileResult> => {
    const read = guardReads(countReads(readByMethod, caller, deps), { ...deps, breaker: breakers.reads });
    const reconciled = await reconcileAndContinue(extractionId, caller, { ...deps, read });
    const record = reconciled.kind === 'gone' ? undefined : reconciled.record;
    telemetry.log('Reconcile finished.', {
      extractionId,
      caller: caller.kind,
      ...(caller.kind === 'queue' ? { cause: caller.cause } : {}),
      outcome: reconciled.kind,
      ...('why' in reconciled ? { why: reconciled.why } : {}),
      ...(record === undefined ? {} : { status: record.status, taskId: record.taskId }),
    });
    return reconciled;
  };

  return { reconcileOne, timings: deps.timings };
};
