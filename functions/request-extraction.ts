import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2WithIAMAuthorizer, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { v7 as newUuid } from 'uuid';
import { promptClient } from '../lib/aws/client-options.ts';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { optionalSetting, required } from '../lib/aws/environment.ts';
import { readSecret } from '../lib/aws/read-secret.ts';
import { sealWith } from '../lib/aws/seal.ts';
import { startExecutionOf } from '../lib/aws/start-execution.ts';
import { extractionIdOf } from '../lib/extraction/extraction-id.ts';
import { fingerprint } from '../lib/extraction/fingerprint.ts';
import { parseExtractionRequest } from '../lib/extraction/parse-request.ts';
import { publicView } from '../lib/extraction/public-view.ts';
import { request } from '../lib/extraction/request.ts';
import { parseTimings } from '../lib/extraction/timings.ts';
import { answerFailures } from '../lib/http/answer-failures.ts';
import { callerOf } from '../lib/http/caller-of.ts';
import { parseIdempotencyKey } from '../lib/http/idempotency-key.ts';
import { problem } from '../lib/http/problem.ts';
import { readJsonBody } from '../lib/http/read-body.ts';
import { log, logAbout, observability } from '../lib/observability/observability.ts';

const bodyLimitBytes = 64 * 1024;

const secrets = new SecretsManagerClient(promptClient);
const fingerprintSecret = required('FINGERPRINT_KEY_SECRET');
const deps = {
  extractions: dynamoExtractionStore(new DynamoDBClient(promptClient), required('EXTRACTIONS_TABLE')),
  seal: sealWith(new KMSClient(promptClient), required('SEAL_KEY_ARN')),
  startExecution: startExecutionOf(new SFNClient(promptClient), required('STATE_MACHINE_ARN')),
  now: () => new Date(),
  timings: parseTimings(required('TIMINGS')),
};

/** Generated with the stack and never rotated, so one read serves the life of the process. */
let fingerprintKey: Promise<string> | undefined;
const readFingerprintKey = (): Promise<string> => {
  fingerprintKey ??= readSecret(secrets, fingerprintSecret).catch((error: unknown) => {
    fingerprintKey = undefined;
    throw error;
  });
  return fingerprintKey;
};

const requestExtraction = async (
  event: APIGatewayProxyEventV2WithIAMAuthorizer,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const idempotencyKey = parseIdempotencyKey(event.headers['idempotency-key']);
  if (idempotencyKey.kind === 'invalid') return problem('invalid-request', { detail: idempotencyKey.detail });
  const body = readJsonBody(event, bodyLimitBytes);
  if (body.kind === 'too-large') {
    return problem('too-large', { detail: `The body must have at most ${bodyLimitBytes} bytes.` });
  }
  if (body.kind === 'not-json')
    return problem('invalid-request', { detail: 'The body must be JSON in UTF-8.' });
  const parsed = parseExtractionRequest(body.json);
  if (parsed.kind === 'invalid') return problem('invalid-request', { errors: parsed.violations });
  // Said now rather than by an extraction that could never be started.
  if (parsed.request.method === 'consent') optionalSetting('PROVIDER_CLIENT_ID', 'providerClientId');

  const caller = callerOf(event.requestContext.authorizer.iam.userArn);
  const extractionId =
    idempotencyKey.kind === 'absent' ? newUuid() : extractionIdOf(caller, idempotencyKey.key);
  logAbout({ extractionId });
  const outcome = await request(
    {
      extractionId,
      requestedBy: caller,
      requestId: event.requestContext.requestId,
      fingerprint: fingerprint(parsed.request, await readFingerprintKey()),
      request: parsed.request,
    },
    deps,
  );
  log.info('Extraction requested.', { outcome: outcome.kind });

  if (outcome.kind === 'key-reused') return problem('idempotency-key-reused');
  const replayed = outcome.kind === 'replayed';
  return {
    statusCode: replayed ? 200 : 202,
    headers: {
      'content-type': 'application/json',
      location: `/extractions/${extractionId}`,
      ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
    },
    body: JSON.stringify(publicView(outcome.record)),
  };
};

export const handler = middy<APIGatewayProxyEventV2WithIAMAuthorizer, APIGatewayProxyStructuredResultV2>()
  .use(observability())
  .use(answerFailures())
  .handler(requestExtraction);
