import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2WithIAMAuthorizer, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { validate as isUuid } from 'uuid';
import * as v from 'valibot';
import { promptClient } from '../lib/aws/client-options.ts';
import { dynamoExtractionStore } from '../lib/aws/dynamo-extraction-store.ts';
import { required } from '../lib/aws/environment.ts';
import { presignResults } from '../lib/aws/presign-results.ts';
import { publicView } from '../lib/extraction/public-view.ts';
import { resultsKept } from '../lib/extraction/results-kept.ts';
import { answerFailures } from '../lib/http/answer-failures.ts';
import { callerNamed, callerOf } from '../lib/http/caller-of.ts';
import { problem } from '../lib/http/problem.ts';
import { log, logAbout, observability } from '../lib/observability/observability.ts';

const extractions = dynamoExtractionStore(new DynamoDBClient(promptClient), required('EXTRACTIONS_TABLE'));
const retentionDays = Number(required('RESULTS_RETENTION_DAYS'));
const presign = presignResults(new S3Client(promptClient), () => new Date());
const readers = new Set(v.parse(v.array(v.string()), JSON.parse(required('READERS'))).map(callerNamed));

const getExtraction = async (
  event: APIGatewayProxyEventV2WithIAMAuthorizer,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const extractionId = event.pathParameters?.extractionId ?? '';
  const caller = callerOf(event.requestContext.authorizer.iam.userArn);
  const record = isUuid(extractionId) ? await extractions.get(extractionId) : undefined;
  // The same answer for "not there" and "not yours": an id tells nobody whether it exists.
  if (record === undefined || !(record.requestedBy === caller || readers.has(caller))) {
    return problem('not-found');
  }
  logAbout({ extractionId: record.extractionId });
  const stored = resultsKept(record, new Date(), retentionDays);
  const link = stored === undefined ? undefined : await presign(stored);
  // Who was given a way to bank data, and when: the bucket itself only sees this function's role.
  log.info('Extraction read.', { caller, linked: link !== undefined });
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify(publicView(record, link)),
  };
};

export const handler = middy<APIGatewayProxyEventV2WithIAMAuthorizer, APIGatewayProxyStructuredResultV2>()
  .use(observability())
  .use(answerFailures())
  .handler(getExtraction);
