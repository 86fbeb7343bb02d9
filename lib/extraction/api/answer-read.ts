import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { validate as isUuid } from 'uuid';
import { type CallerContext, identifyCaller } from '../../http/caller-and-trace.ts';
import { jsonAnswer } from '../../http/json-answer.ts';
import { problem } from '../../http/problem.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { plusSeconds } from '../deadlines.ts';
import type { Extraction, StoredResults } from '../record.ts';
import type { ExtractionStore } from '../store.ts';
import { publicView } from './public-view.ts';
import type { EstimateStart } from './start-estimates.ts';

/** The part of an API Gateway event that `GET /extractions/{extractionId}` uses. */
type ReadEvent = {
  readonly pathParameters?: Readonly<Record<string, string | undefined>>;
  readonly requestContext: CallerContext;
};

export type AnswerReadDeps = {
  readonly extractions: Pick<ExtractionStore, 'get'>;
  /** The callers that may read every extraction, in the form of `callerFromPrincipalArn`. */
  readonly readers: ReadonlySet<string>;
  readonly presign: (stored: StoredResults) => Promise<{ readonly url: string; readonly expiresAt: string }>;
  /** Absent if starts are not limited. */
  readonly estimateStart?: EstimateStart;
  readonly now: () => Date;
  readonly retentionDays: number;
  readonly telemetry: Telemetry;
};

/**
 * The results of a record, if the bucket still has them. A lifecycle rule removes them up to two days after `retentionDays`, and a URL of a
 * removed object would return 403.
 */
export const availableResults = (
  { results, collectedAt }: Pick<Extraction, 'results' | 'collectedAt'>,
  now: Date,
  retentionDays: number,
): StoredResults | undefined => {
  if (results === undefined || collectedAt === undefined) return undefined;
  return now.toISOString() < plusSeconds(collectedAt, retentionDays * 86_400) ? results : undefined;
};

/** Answers `GET /extractions/{extractionId}` (design, section 6). Throws what its dependencies throw. */
export const answerRead = async (
  event: ReadEvent,
  deps: AnswerReadDeps,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const extractionId = event.pathParameters?.extractionId ?? '';
  const identified = identifyCaller(event.requestContext);
  if (identified.kind === 'refused') return identified.answer;
  const { caller } = identified;
  const record = isUuid(extractionId) ? await deps.extractions.get(extractionId) : undefined;
  // The same answer for "does not exist" and "belongs to another caller", so that no caller can test whether an id exists.
  if (record === undefined || !(record.requestedBy === caller || deps.readers.has(caller))) {
    return problem('not-found');
  }
  deps.telemetry.about({ extractionId: record.extractionId });
  const stored = availableResults(record, deps.now(), deps.retentionDays);
  const link = stored === undefined ? undefined : await deps.presign(stored);
  const expectedStartAt =
    record.status === 'REQUESTED' ? await deps.estimateStart?.(extractionId) : undefined;
  // This line shows who received a link to bank data. The bucket's own log names only the function's role.
  deps.telemetry.log('Extraction read.', { caller, linked: link !== undefined });
  return jsonAnswer(publicView(record, link, expectedStartAt));
};
