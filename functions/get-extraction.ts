import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import * as v from 'valibot';
import { dynamoExtractionStore, dynamoNameIndex } from '../lib/aws/dynamo-extraction-store.ts';
import { readItems } from '../lib/aws/items.ts';
import { presignResults } from '../lib/aws/presign-results.ts';
import { promptClient } from '../lib/aws/wiring/aws-client-timeouts.ts';
import { breakersFromEnvironment } from '../lib/aws/wiring/breaker-from-environment.ts';
import { requiredVariable } from '../lib/aws/wiring/environment.ts';
import { httpHandler } from '../lib/aws/wiring/http-handler.ts';
import { startEstimatesFromEnvironment } from '../lib/aws/wiring/start-line-from-environment.ts';
import { type AnswerFindDeps, answerFind } from '../lib/extraction/api/answer-find.ts';
import { type AnswerReadDeps, answerRead } from '../lib/extraction/api/answer-read.ts';
import {
  type AnswerSummaryDeps,
  answerSummary,
  type SummarizedRecord,
  summarizedAttributes,
} from '../lib/extraction/api/answer-summary.ts';
import { callerFromPrincipalArn } from '../lib/http/caller-and-trace.ts';
import { telemetry } from '../lib/observability/powertools-telemetry.ts';

const now = () => new Date();
const database = new DynamoDBClient(promptClient);
const table = requiredVariable('EXTRACTIONS_TABLE');
const deps: AnswerReadDeps & AnswerFindDeps & AnswerSummaryDeps = {
  extractions: dynamoExtractionStore(database, table),
  index: dynamoNameIndex(database, table),
  readMany: (ids) =>
    readItems(
      database,
      // An outcome that came within this second is in the next summary.
      { table, attributes: summarizedAttributes, mayBeOld: true },
      ids.map((extractionId) => ({ extractionId })),
    ) as AsyncIterable<SummarizedRecord>,
  readers: new Set(
    v.parse(v.array(v.string()), JSON.parse(requiredVariable('READERS'))).map(callerFromPrincipalArn),
  ),
  presign: presignResults(new S3Client(promptClient), now),
  estimateStart: startEstimatesFromEnvironment(database, breakersFromEnvironment(database, now)),
  now,
  retentionDays: Number(requiredVariable('RESULTS_RETENTION_DAYS')),
  telemetry,
};

export const handler = httpHandler((event) => {
  if (event.routeKey === 'GET /extractions') return answerFind(event, deps);
  return event.routeKey === 'GET /extractions/summary' ? answerSummary(event, deps) : answerRead(event, deps);
});
