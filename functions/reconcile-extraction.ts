import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { dynamoRequestStore } from '../lib/aws/dynamo-request-store.ts';
import { dynamoStartLine } from '../lib/aws/dynamo-start-line.ts';
import { dynamoTaskStore } from '../lib/aws/dynamo-task-store.ts';
import { unsealTargetWith } from '../lib/aws/seal.ts';
import { sendReconcileTo } from '../lib/aws/send-messages.ts';
import { wakeMachine } from '../lib/aws/step-functions.ts';
import { storeResultsIn } from '../lib/aws/store-results.ts';
import {
  patientClient,
  patientQueueClient,
  promptClient,
  removingClient,
} from '../lib/aws/wiring/aws-client-timeouts.ts';
import { breakersFromEnvironment } from '../lib/aws/wiring/breaker-from-environment.ts';
import { refusedCredentialsFromEnvironment, requiredVariable } from '../lib/aws/wiring/environment.ts';
import {
  apiKeyFromEnvironment,
  providerFromEnvironment,
  taskTokensFromEnvironment,
} from '../lib/aws/wiring/provider-from-environment.ts';
import { parseTimings } from '../lib/extraction/deadlines.ts';
import type { BatchAnswer } from '../lib/extraction/handle-messages.ts';
import {
  answerCancel,
  type CancelAnswer,
  type CancelEvent,
  cancel,
} from '../lib/extraction/operate/cancel.ts';
import type { Result } from '../lib/extraction/plan.ts';
import {
  briefCallMs,
  parseRead,
  type ReadableProvider,
  readCallFrom,
} from '../lib/extraction/reconcile/read-task.ts';
import {
  answerReconcile,
  NotYet,
  type ReconcileAnswer,
  type ReconcileEvent,
  type ReconcileInvoker,
  reconcile,
  reconcileInvokerOf,
  reconcileMessages,
} from '../lib/extraction/reconcile/reconcile.ts';
import { backgroundHandler } from '../lib/observability/background-handler.ts';
import { telemetry } from '../lib/observability/powertools-telemetry.ts';
import { readExtraction } from '../lib/provider/extractions/read-extraction.ts';
import { readTask } from '../lib/provider/tasks/read-task.ts';

const now = () => new Date();
const database = new DynamoDBClient(patientClient);
const queues = new SQSClient(patientQueueClient);
const slowQueueUrl = requiredVariable('SLOW_QUEUE_URL');
const requests = dynamoRequestStore(
  database,
  requiredVariable('REQUESTS_TABLE'),
  new DynamoDBClient(removingClient),
);
const { operator } = breakersFromEnvironment(new DynamoDBClient(promptClient), now);
const timings = parseTimings(requiredVariable('TIMINGS'));

const withApiKey = apiKeyFromEnvironment(new SecretsManagerClient(patientClient), now);
const maxAnswerBytes = Number(requiredVariable('RESULTS_MAX_BYTES'));

/** The provider, with tokens of its own. Each call ends after `maxCallMs`. */
const providerWith = (maxCallMs: number): ReadableProvider => {
  const { connection, sessions } = providerFromEnvironment(withApiKey, { now, maxAnswerBytes, maxCallMs });
  return {
    sessions,
    taskTokens: taskTokensFromEnvironment(withApiKey, connection, now),
    readTask: (token, taskId) => readTask(connection, token, taskId, parseRead),
    readExtraction: (token, taskId, variant) =>
      readExtraction(connection, token, { variant, taskId, parse: parseRead }),
  };
};
const brief = providerWith(briefCallMs);
const patient = providerWith(Number.POSITIVE_INFINITY);

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
  isPaused: operator.isPaused,
  startLine: dynamoStartLine(database, requiredVariable('START_LINE_TABLE')),
  storeResults: storeResultsIn(new S3Client(patientClient), requiredVariable('RESULTS_BUCKET')),
  now,
  timings,
  telemetry,
  send: sendReconcileTo(queues, requiredVariable('RECONCILE_QUEUE_URL')),
  sendSlow: sendReconcileTo(queues, slowQueueUrl),
  wake: wakeMachine(new SFNClient(patientClient)),
};

const reconcileOne = (extractionId: string, invoker: ReconcileInvoker): Promise<Result> =>
  reconcile(extractionId, invoker, deps);

// The queue's name ends its URL as well as its ARN.
const slowQueueName = slowQueueUrl.split('/').at(-1);
const isOfSlowQueue = (arn = ''): boolean => arn.split(':').at(-1) === slowQueueName;

type Event = SQSEvent | ReconcileEvent | CancelEvent;
type Answer = BatchAnswer | ReconcileAnswer | CancelAnswer;

/** Messages of the queue, or a direct invocation by the machine or an operator. */
const reconcileExtraction = async (event: Event): Promise<Answer> => {
  if ('Records' in event) {
    const isSlow = isOfSlowQueue(event.Records[0]?.eventSourceARN);
    return reconcileMessages(event.Records, { isSlow, reconcile: reconcileOne, now, timings, telemetry });
  }
  const { extractionId } = event;
  telemetry.about({ extractionId });
  if (event.trigger === 'cancel')
    return answerCancel(extractionId, await cancel(extractionId, 'cancelled', deps));
  const invoker = reconcileInvokerOf(event);
  return answerReconcile(extractionId, await reconcileOne(extractionId, invoker), invoker.kind);
};

export const handler = backgroundHandler(reconcileExtraction, { except: [NotYet] });
