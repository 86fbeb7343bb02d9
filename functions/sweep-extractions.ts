import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { sendReconcileBatchTo } from '../lib/aws/send-messages.ts';
import { patientClient, patientQueueClient } from '../lib/aws/wiring/aws-client-timeouts.ts';
import { requiredVariable } from '../lib/aws/wiring/environment.ts';
import { sweep } from '../lib/extraction/sweep.ts';
import { backgroundHandler } from '../lib/observability/background-handler.ts';
import { publishNow, telemetry } from '../lib/observability/powertools-telemetry.ts';

const deps = {
  extractions: dynamoExtractionStore(
    new DynamoDBClient(patientClient),
    requiredVariable('EXTRACTIONS_TABLE'),
  ),
  sendBatch: sendReconcileBatchTo(new SQSClient(patientQueueClient), requiredVariable('RECONCILE_QUEUE_URL')),
  now: () => new Date(),
  random: Math.random,
  // A lease and a batch, each with one try that times out, and the end of the function.
  reserveMs: 2 * patientClient.requestHandler.requestTimeout + 5_000,
  telemetry,
  publish: publishNow,
};

export const handler = backgroundHandler((_event, context) =>
  sweep({ ...deps, remainingMs: () => context.getRemainingTimeInMillis() }),
);
