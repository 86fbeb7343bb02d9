import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { parseTimings, type Timings } from '../../extraction/deadlines.ts';
import { readsFor } from '../../extraction/reconcile/read-provider.ts';
import { parseRead } from '../../extraction/reconcile/reading.ts';
import { reconcileAndContinue } from '../../extraction/reconcile/reconcile.ts';
import type { ReconcileCaller, ReconcileResult } from '../../extraction/reconcile/steps.ts';
import { telemetry } from '../../observability/observability.ts';
import { readExtraction } from '../../provider/extractions/read-extraction.ts';
import { fetchTask, parseTask } from '../../provider/tasks/read-task.ts';
import type { Connection } from '../../provider/transport/send-request.ts';
import { dynamoExtractionStore } from '../dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../dynamo-task-store.ts';
import { sendReconcileTo } from '../reconcile-queue.ts';
import { unsealTargetWith } from '../seal.ts';
import { storeResultsIn } from '../store-results.ts';
import { breakersFromEnvironment } from './breakers-from-environment.ts';
import { patientClient, patientQueueClient } from './client-options.ts';
import { requiredVariable } from './environment.ts';
import {
  apiKeyFromEnvironment,
  providerFromEnvironment,
  taskTokensFromEnvironment,
} from './provider-from-environment.ts';
import { requestsFromEnvironment } from './requests-from-environment.ts';

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
  const withApiKey = apiKeyFromEnvironment(new SecretsManagerClient(patientClient), now);
  const breakers = breakersFromEnvironment(now);
  const { connection, sessions } = providerFromEnvironment(withApiKey, {
    now,
    alsoCountLoginsFor: breakers.starts,
    maxAnswerBytes: Number(requiredVariable('RESULTS_MAX_BYTES')),
  });

  const connectionFor = ({ isLast }: { readonly isLast: boolean }): Connection =>
    isLast ? { ...connection, totalTimeoutMs: Math.min(connection.totalTimeoutMs, lastReadMs) } : connection;

  const deps = {
    extractions: dynamoExtractionStore(database, requiredVariable('EXTRACTIONS_TABLE')),
    tasks: dynamoTaskStore(database, requiredVariable('TASKS_TABLE'), now),
    requests: requestsFromEnvironment(database),
    unsealTarget: unsealTargetWith(new KMSClient(patientClient), requiredVariable('SEAL_KEY_ARN')),
    sessions,
    taskTokens: taskTokensFromEnvironment(withApiKey, connection, now),
    readTask: async (token, taskId, call) =>
      parseTask(await fetchTask(connectionFor(call), token, taskId), parseRead),
    readExtraction: (token, taskId, { variant, ...call }) =>
      readExtraction(connectionFor(call), token, { variant, taskId, parse: parseRead }),
    breaker: breakers.reads,
    storeResults: storeResultsIn(new S3Client(patientClient), requiredVariable('RESULTS_BUCKET')),
    now,
    timings: parseTimings(requiredVariable('TIMINGS')),
    telemetry,
    send: sendReconcileTo(new SQSClient(patientQueueClient), requiredVariable('RECONCILE_QUEUE_URL')),
  } satisfies Parameters<typeof readsFor>[1] & Omit<Parameters<typeof reconcileAndContinue>[2], 'read'>;

  const reconcileOne = async (extractionId: string, caller: ReconcileCaller): Promise<ReconcileResult> => {
    const read = readsFor(caller, deps);
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
