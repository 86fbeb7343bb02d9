import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import { v7 as newUuid } from 'uuid';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { dynamoRepeatCounter } from '../lib/aws/dynamo-repeat-counter.ts';
import { dynamoRequestStore } from '../lib/aws/dynamo-request-store.ts';
import { sealWith } from '../lib/aws/seal.ts';
import { startExecutionOf } from '../lib/aws/step-functions.ts';
import { intakeClient, oneTryClient, removingClient } from '../lib/aws/wiring/aws-client-timeouts.ts';
import {
  fingerprintKeyFromEnvironment,
  neededSetting,
  requiredVariable,
} from '../lib/aws/wiring/environment.ts';
import { httpHandler } from '../lib/aws/wiring/http-handler.ts';
import { type AnswerRequestDeps, answerRequest } from '../lib/extraction/api/answer-request.ts';
import { type AcceptedRequests, extractionRequestParser } from '../lib/extraction/api/parse-request.ts';
import { parseTimings } from '../lib/extraction/deadlines.ts';
import { telemetry } from '../lib/observability/powertools-telemetry.ts';

const now = () => new Date();
const database = new DynamoDBClient(intakeClient);
const deps: AnswerRequestDeps = {
  parseRequest: extractionRequestParser(
    JSON.parse(requiredVariable('ACCEPTED_REQUESTS')) as AcceptedRequests,
  ),
  extractions: dynamoExtractionStore(database, requiredVariable('EXTRACTIONS_TABLE')),
  requests: dynamoRequestStore(
    database,
    requiredVariable('REQUESTS_TABLE'),
    new DynamoDBClient(removingClient),
  ),
  repeats: dynamoRepeatCounter(database, requiredVariable('REFUSALS_TABLE')),
  seal: sealWith(new KMSClient(intakeClient), requiredVariable('SEAL_KEY_ARN')),
  startExecution: startExecutionOf(new SFNClient(oneTryClient), requiredVariable('STATE_MACHINE_ARN')),
  now,
  timings: parseTimings(requiredVariable('TIMINGS')),
  fingerprintKey: fingerprintKeyFromEnvironment(new SecretsManagerClient(intakeClient)),
  newId: () => newUuid(),
  newRequestId: () => randomBytes(16).toString('base64url'),
  sendsWebhooks: requiredVariable('PROVIDER_SENDS_WEBHOOKS') === 'true',
  assertConsentsSetUp: () => void neededSetting('PROVIDER_CLIENT_ID', 'providerClientId'),
  telemetry,
};

// Without `endAtTimeout`: middy answers 500 shortly before the timeout. The frozen process may go on when Lambda reuses it. It then creates a
// record whose start window may be over, which its execution or the sweep ends.
export const handler = httpHandler((event) => answerRequest(event, deps));
