import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as v from 'valibot';
import { defined } from '../../defined.ts';
import { identifyCaller } from '../../http/caller-and-trace.ts';
import { jsonAnswer } from '../../http/json-answer.ts';
import { problem } from '../../http/problem.ts';
import type { Extraction } from '../record.ts';
import { isSameName } from '../spellings.ts';
import type { NamedEntry, NameIndex } from '../store.ts';
import { type AnswerFindDeps, type FindEvent, nameField } from './answer-find.ts';
import type { BatchSummary } from './public-view.ts';

/** The attributes that are read of each record. */
export type SummarizedRecord = Pick<
  Extraction,
  'extractionId' | 'status' | 'advice' | 'dueShard' | 'requestedBy' | 'batch'
>;
export const summarizedAttributes = [
  'extractionId',
  'status',
  'advice',
  'dueShard',
  'requestedBy',
  'batch',
] as const satisfies readonly (keyof SummarizedRecord)[];

export type AnswerSummaryDeps = Pick<AnswerFindDeps, 'index' | 'readers' | 'telemetry'> & {
  /** Reads the existing records with these ids, in any order. */
  readonly readMany: (extractionIds: readonly string[]) => AsyncIterable<SummarizedRecord>;
};

/** This takes 10 queries of 1,000 entries, one that shows whether there are more, and 100 reads of 100 records each. */
const maxCounted = 10_000;
const entriesPerQuery = 1_000;

const entriesOf = async (
  index: NameIndex,
  query: { readonly name: string; readonly requestedBy: string | undefined },
): Promise<{ readonly ids: readonly string[]; readonly isComplete: boolean }> => {
  const ids: string[] = [];
  let after: NamedEntry | undefined;
  do {
    const { entries, last } = await index.find({ by: 'batch', ...query, limit: entriesPerQuery, after });
    ids.push(...entries.map(({ extractionId }) => extractionId));
    after = last;
  } while (after !== undefined && ids.length <= maxCounted);
  return { ids: ids.slice(0, maxCounted), isComplete: ids.length <= maxCounted };
};

export const summarize = async (
  records: AsyncIterable<SummarizedRecord>,
): Promise<Pick<BatchSummary, 'extractions' | 'open' | 'counts'>> => {
  const counts = new Map<string, BatchSummary['counts'][number]>();
  let [extractions, open] = [0, 0];
  for await (const { status, advice, dueShard } of records) {
    extractions += 1;
    if (dueShard !== undefined) open += 1;
    const key = `${status} ${advice}`;
    const before = counts.get(key)?.extractions ?? 0;
    counts.set(key, { status, ...defined({ advice }), extractions: before + 1 });
  }
  const sorted = [...counts.values()].sort((one, other) => other.extractions - one.extractions);
  return { extractions, open, counts: sorted };
};

async function* matching(
  records: AsyncIterable<SummarizedRecord>,
  { name, requestedBy }: { readonly name: string; readonly requestedBy: string | undefined },
): AsyncGenerator<SummarizedRecord, void> {
  for await (const record of records) {
    if (isSameName(record.batch, name) && (requestedBy === undefined || record.requestedBy === requestedBy))
      yield record;
  }
}

/**
 * Answers `GET /extractions/summary?batch=…` (design, section 6): counts the caller's own extractions of this batch by status and advice. A
 * reader gets the extractions of all callers. It reads the records, because the index has no status. Throws what its dependencies throw.
 */
export const answerSummary = async (
  { queryStringParameters = {}, requestContext }: FindEvent,
  deps: AnswerSummaryDeps,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const identified = identifyCaller(requestContext);
  if (identified.kind === 'refused') return identified.answer;
  const { caller } = identified;
  const { batch, ...others } = queryStringParameters;
  if (Object.keys(others).length > 0 || !v.is(nameField, batch)) {
    const detail = 'The only query parameter is batch: 1 to 256 characters, and no control characters.';
    return problem('invalid-request', { detail });
  }
  const query = { name: batch, requestedBy: deps.readers.has(caller) ? undefined : caller };
  const { ids, isComplete } = await entriesOf(deps.index, query);
  // An entry can outlive an erased record for a moment, and its id may then have another record.
  const counted = await summarize(matching(deps.readMany(ids), query));
  deps.telemetry.log('Batch summarized.', { caller, found: counted.extractions });
  return jsonAnswer({ batch, isComplete, ...counted } satisfies BatchSummary);
};
