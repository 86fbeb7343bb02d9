import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { validate as isUuid } from 'uuid';
import * as v from 'valibot';
import { defined } from '../../defined.ts';
import { line } from '../../http/body-fields.ts';
import { type CallerContext, identifyCaller } from '../../http/caller-and-trace.ts';
import { jsonAnswer } from '../../http/json-answer.ts';
import { problem } from '../../http/problem.ts';
import { type Extraction, maxNameLength } from '../record.ts';
import { isSameName, spellingIn } from '../spellings.ts';
import type { NamedEntry, NameIndex, NameQuery } from '../store.ts';
import type { AnswerReadDeps } from './answer-read.ts';
import { publicView } from './public-view.ts';

/** The part of an API Gateway event that `GET /extractions` and `GET /extractions/summary` use. */
export type FindEvent = {
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>>;
  readonly requestContext: CallerContext;
};

export type AnswerFindDeps = Pick<AnswerReadDeps, 'extractions' | 'readers' | 'telemetry'> & {
  readonly index: NameIndex;
};

const defaultLimit = 20;
/** All records of a page are read at the same time, and the SDK keeps at most 50 connections. */
const maxLimit = 50;

/** A reference or a batch, in the form that a request accepts. */
export const nameField = line(maxNameLength);

type Named = Pick<NameQuery, 'by' | 'name'>;
type FindQuery = Named & { readonly limit: number; readonly cursor: string | undefined };

const isKnown = (name: string): boolean => ['reference', 'batch', 'limit', 'cursor'].includes(name);

/** Returns the query, or why it is invalid. */
const parseQuery = (parameters: FindEvent['queryStringParameters'] = {}): FindQuery | string => {
  // Unknown parameters are refused. Otherwise a misspelt `cursor` would return the first page every time.
  if (!Object.keys(parameters).every(isKnown)) {
    return 'Only reference or batch, limit and cursor are allowed as query parameters.';
  }
  const { reference, batch, limit = String(defaultLimit), cursor } = parameters;
  const name = reference ?? batch;
  if (!v.is(nameField, name) || (reference !== undefined && batch !== undefined)) {
    return 'One query parameter of reference and batch is required: 1 to 256 characters, and no control characters.';
  }
  if (!/^[1-9]\d?$/.test(limit) || Number(limit) > maxLimit) {
    return `The query parameter limit must be a whole number from 1 to ${maxLimit}.`;
  }
  return { by: reference === undefined ? 'batch' : 'reference', name, limit: Number(limit), cursor };
};

type Owned = Named & { readonly requestedBy: string | undefined };

type Found = { readonly records: readonly Extraction[]; readonly isEnd: boolean };

/**
 * Reads matching records until there are `wanted`. The index gives the order, and each record decides whether it matches. An entry can
 * outlive an erased record for a moment, and its id may then have another record.
 */
const readMatching = async (
  query: Owned,
  { after, wanted }: { readonly after: Extraction | undefined; readonly wanted: number },
  { index, extractions }: AnswerFindDeps,
): Promise<Found> => {
  const records: Extraction[] = [];
  let position = after === undefined ? undefined : entryOf(after, query);
  for (;;) {
    const { entries, last } = await index.find({ ...query, limit: wanted - records.length, after: position });
    const read = await Promise.all(entries.map(({ extractionId }) => extractions.get(extractionId)));
    records.push(...read.filter((record) => record !== undefined).filter((record) => matches(record, query)));
    if (records.length >= wanted || last === undefined) return { records, isEnd: records.length < wanted };
    position = last;
  }
};

const entryOf = (record: Extraction, { by, name }: Named): NamedEntry => ({
  extractionId: record.extractionId,
  requestedBy: record.requestedBy,
  requestedAt: record.requestedAt,
  spelling: spellingIn(record[by] ?? name, name),
});

const matches = (record: Extraction, { by, name, requestedBy }: Owned): boolean =>
  isSameName(record[by], name) && (requestedBy === undefined || record.requestedBy === requestedBy);

const invalid = (detail: string): APIGatewayProxyStructuredResultV2 => problem('invalid-request', { detail });

/**
 * Answers `GET /extractions?reference=…` and `?batch=…` (design, section 6) with the caller's own extractions of this name. A reader gets
 * the extractions of all callers. The cursor is the id of the last extraction of a page. So it reveals nothing, and is checked as that
 * extraction is. Throws what its dependencies throw.
 */
export const answerFind = async (
  event: FindEvent,
  deps: AnswerFindDeps,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const identified = identifyCaller(event.requestContext);
  if (identified.kind === 'refused') return identified.answer;
  const { caller } = identified;
  const asked = parseQuery(event.queryStringParameters);
  if (typeof asked === 'string') return invalid(asked);
  const { by, name, limit, cursor } = asked;
  const query = { by, name, requestedBy: deps.readers.has(caller) ? undefined : caller };

  const after = cursor !== undefined && isUuid(cursor) ? await deps.extractions.get(cursor) : undefined;
  // The same answer for a forged cursor and another caller's cursor, so that no caller can test whether an id exists.
  if (cursor !== undefined && (after === undefined || !matches(after, query))) {
    return invalid('The query parameter cursor is not of this list. Begin again without it.');
  }
  const { records, isEnd } = await readMatching(query, { after, wanted: limit + 1 }, deps);
  const shown = records.slice(0, limit);
  deps.telemetry.log('Extractions found.', { caller, found: shown.length });
  return jsonAnswer({
    extractions: shown.map((record) => publicView(record)),
    ...defined({ cursor: isEnd ? undefined : shown.at(-1)?.extractionId }),
  });
};
