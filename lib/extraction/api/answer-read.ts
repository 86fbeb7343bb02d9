import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { validate as isUuid } from 'uuid';
import { callerFromUserArn } from '../../http/caller.ts';
import { problem } from '../../http/problem.ts';
import { plusSeconds } from '../deadlines.ts';
import type { Extraction, StoredResults } from '../record.ts';
import type { ExtractionStore } from '../store.ts';
import { publicView } from './public-view.ts';

/** What of an API Gateway event `GET /extractions/{extractionId}` looks at. */
export type ReadEvent = {
  readonly pathParameters?: Readonly<Record<string, string | undefined>>;
  readonly requestContext: { readonly authorizer: { readonly iam: { readonly userArn: string } } };
};

export type AnswerReadDeps = {
  readonly extractions: Pick<ExtractionStore, 'get'>;
  /** Who may read every extraction, as `callerOf` names them. */
  readonly readers: ReadonlySet<string>;
  readonly presign: (stored: StoredResults) => Promise<{ readonly url: string; readonly expiresAt: string }>;
  readonly now: () => Date;
  readonly retentionDays: number;
  /** For the log: there is such an extraction, and the caller may read it. */
  readonly onFound: (extractionId: string) => void;
  /** For the log: who was given a way to bank data, and when. The bucket itself only sees the function's role. */
  readonly onRead: (read: { readonly caller: string; readonly linked: boolean }) => void;
};

/**
 * The results of a record, if the bucket still has them. Its lifecycle rule removes them up to two days after
 * `retentionDays`, and a URL of a removed object would only return 403.
 */
export const availableResults = (
  { results, collectedAt }: Pick<Extraction, 'results' | 'collectedAt'>,
  now: Date,
  retentionDays: number,
): StoredResults | undefined => {
  if (results === undefined || collectedAt === undefined) return undefined;
  return now.toISOString() < plusSeconds(collectedAt, retentionDays * 86_400) ? results : undefined;
};

/** Answers one read of an extraction (design, section 6). Throws what a dependency throws. */
export const answerRead = async (
  event: ReadEvent,
  deps: AnswerReadDeps,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const extractionId = event.pathParameters?.extractionId ?? '';
  const caller = callerFromUserArn(event.requestContext.authorizer.iam.userArn);
  const record = isUuid(extractionId) ? await deps.extractions.get(extractionId) : undefined;
  // The same answer for "not there" and "not yours": an id tells nobody whether it exists.
  if (record === undefined || !(record.requestedBy === caller || deps.readers.has(caller))) {
    return problem('not-found');
  }
  deps.onFound(record.extractionId);
  const stored = availableResults(record, deps.now(), deps.retentionDays);
  const link = stored === undefined ? undefined : await deps.presign(stored);
  deps.onRead({ caller, linked: link !== undefined });
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify(publicView(record, link)),
  };
};
