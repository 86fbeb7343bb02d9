import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { defined } from '../../defined.ts';
import { parseTimings, type Timings } from '../../extraction/deadlines.ts';
import {
  briefCallMs,
  parseRead,
  type ReadableProvider,
  readCallFrom,
} from '../../extraction/reconcile/read-task.ts';
import { type ReconcileInvoker, reconcile } from '../../extraction/reconcile/reconcile.ts';
import type { Result } from '../../extraction/run.ts';
import { telemetry } from '../../observability/powertools-telemetry.ts';
import { readExtraction } from '../../provider/extractions/read-extraction.ts';
import { fetchTask, parseTask } from '../../provider/tasks/read-task.ts';
import { dynamoExtractionStore } from '../dynamo-extraction-store.ts';
import { dynamoTaskStore } from '../dynamo-task-store.ts';
import { unsealTargetWith } from '../seal.ts';
import { sendReconcileTo } from '../send-reconcile.ts';
import { storeResultsIn } from '../store-results.ts';
import { patientClient, patientQueueClient } from './aws-client-timeouts.ts';
import { pausesFromEnvironment } from './breaker-store-and-pauses-from-environment.ts';
import { requiredVariable } from './environment-variables.ts';
import {
  apiKeyFromEnvironment,
  providerFromEnvironment,
  taskTokensFromEnvironment,
} from './provider-from-environment.ts';
import { refusedCredentialsFromEnvironment } from './refused-credentials-from-environment.ts';
import { requestsFromEnvironment } from './requests-from-environment.ts';

type Reconciler = {
  /**
   * Reconciles one extraction, logs the result, and sends the message for the next time. Throws what the stores throw.
   */
  readonly reconcileOne: (extractionId: string, invoker: ReconcileInvoker) => Promise<Result>;
  /** Whether messages from this event source are of the slow queue. */
  readonly isOfSlowQueue: (eventSourceArn: string | undefined) => boolean;
  readonly timings: Timings;
};

/** Builds `reconcile` from the environment, with its AWS clients and the provider. */
export const reconcilerFromEnvironment = (now: () => Date): Reconciler => {
  const database = new DynamoDBClient(patientClient);
  const withApiKey = apiKeyFromEnvironment(new SecretsManagerClient(patientClient), now);
  const maxAnswerBytes = Number(requiredVariable('RESULTS_MAX_BYTES'));

  /** The provider, with tokens of its own. Each call ends after `maxCallMs`. */
  const providerWith = (maxCallMs: number): ReadableProvider => {
    const { connection, sessions } = providerFromEnvironment(withApiKey, { now, maxAnswerBytes, maxCallMs });
    return {
      sessions,
      taskTokens: taskTokensFromEnvironment(withApiKey, connection, now),
      readTask: async (token, taskId) => parseTask(await fetchTask(connection, token, taskId), parseRead),
      readExtraction: (token, taskId, variant) =>
        readExtraction(connection, token, { variant, taskId, parse: parseRead }),
    };
  };
  const brief = providerWith(briefCallMs);
  const patient = providerWith(Number.POSITIVE_INFINITY);
  const queues = new SQSClient(patientQueueClient);
  const slowQueueUrl = requiredVariable('SLOW_QUEUE_URL');

  const requests = requestsFromEnvironment(database);
  const deps = {
    extractions: dynamoExtractionStore(database, requiredVariable('EXTRACTIONS_TABLE')),
    tasks: dynamoTaskStore(database, requiredVariable('TASKS_TABLE'), now),
    requests,
    ...refusedCredentialsFromEnvironment(database),
    readCallFor: readCallFrom({
      requests,
      unsealTarget: unsealTargetWith(new KMSClient(patientClient), requiredVariable('SEAL_KEY_ARN')),
      providerFor: (isBrief) => (isBrief ? brief : patient),
    }),
    isPaused: pausesFromEnvironment(now),
    storeResults: storeResultsIn(new S3Client(patientClient), requiredVariable('RESULTS_BUCKET')),
    now,
    timings: parseTimings(requiredVariable('TIMINGS')),
    telemetry,
    send: sendReconcileTo(queues, requiredVariable('RECONCILE_QUEUE_URL')),
    sendSlow: sendReconcileTo(queues, slowQueueUrl),
  };

  const reconcileOne = async (extractionId: string, invoker: ReconcileInvoker): Promise<Result> => {
    const result = await reconcile(extractionId, invoker, deps);
    const { as, why, record } = result;
    telemetry.log('Reconcile finished.', {
      extractionId,
      caller: invoker.kind,
      ...(invoker.kind === 'queue' ? { cause: invoker.cause } : {}),
      outcome: as,
      ...defined({ why, status: record?.status, taskId: record?.taskId }),
    });
    return result;
  };

  // The queue's name ends its URL as well as its ARN.
  const slowQueueName = slowQueueUrl.split('/').at(-1);
  const isOfSlowQueue = (arn = '') => arn.split(':').at(-1) === slowQueueName;
  return { reconcileOne, isOfSlowQueue, timings: deps.timings };
};
