import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { validate as isUuid } from 'uuid';
import * as v from 'valibot';
import { defined } from '../../defined.ts';
import { type BodyViolation, closedObject, line, violationOf } from '../../http/body-fields.ts';
import { type CallerContext, identifyCaller } from '../../http/caller-and-trace.ts';
import { jsonAnswer } from '../../http/json-answer.ts';
import { parseRequestBody, refuseBody } from '../../http/parse-request-body.ts';
import { problem } from '../../http/problem.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { secondsSince } from '../deadlines.ts';
import type { Erasure, ErasureStore, SendErase, Tombstone } from '../erase/erasure.ts';
import { beginErasureOf } from '../erase/search.ts';
import { keyedMac } from '../keyed-mac.ts';
import type { ExtractionStore, NameIndex } from '../store.ts';
import { nameField } from './answer-find.ts';
import type { ErasureScope, PublicErasure } from './public-view.ts';

/** The part of an API Gateway event that the routes of erasures use. */
type ErasureEvent = {
  readonly routeKey: string;
  readonly body?: string | undefined;
  readonly isBase64Encoded?: boolean;
  readonly pathParameters?: Readonly<Record<string, string | undefined>>;
  readonly requestContext: CallerContext;
};

export type AnswerErasureDeps = {
  readonly extractions: Pick<ExtractionStore, 'get'>;
  readonly index: NameIndex;
  readonly erasures: Pick<ErasureStore, 'createFor' | 'get' | 'lastOf'>;
  readonly tombstones: (erasureId: string) => AsyncIterable<Tombstone>;
  readonly send: SendErase;
  readonly fingerprintKey: () => Promise<string>;
  /** Random, so that no caller can guess another caller's id. */
  readonly newId: () => string;
  readonly now: () => Date;
  readonly telemetry: Pick<Telemetry, 'log'>;
};

type ParsedErasure =
  | { readonly kind: 'valid'; readonly scope: ErasureScope }
  | { readonly kind: 'invalid'; readonly violations: readonly BodyViolation[] };

const bodyLimitBytes = 4 * 1024;

/** An id is not checked further. An impossible id gets the same answer as an unknown one. */
const bodySchema = v.pipe(
  closedObject(
    { reference: v.exactOptional(nameField), extractionId: v.exactOptional(line(64)) },
    'must be a JSON object',
  ),
  v.check(
    ({ reference, extractionId }) => (reference === undefined) !== (extractionId === undefined),
    'must have either reference or extractionId',
  ),
);

/** Validates the parsed body of `POST /erasures`. No violation repeats a value. */
export const parseErasureRequest = (body: unknown): ParsedErasure => {
  const parsed = v.safeParse(bodySchema, body);
  return parsed.success
    ? { kind: 'valid', scope: parsed.output as ErasureScope }
    : { kind: 'invalid', violations: parsed.issues.map(violationOf) };
};

type Counts = { readonly found: number; readonly erased: number; readonly erasedAt?: string | undefined };

const viewOf = (
  { erasureId, askedAt, searchedAt }: Erasure,
  { found, erased, erasedAt }: Counts,
): PublicErasure => {
  const open = found - erased;
  const isErased = searchedAt !== undefined && open === 0;
  const status = isErased ? 'ERASED' : searchedAt === undefined ? 'SEARCHING' : 'ERASING';
  const counts = { found, erased, open };
  return { erasureId, status, askedAt, ...defined({ erasedAt: isErased ? erasedAt : undefined }), ...counts };
};

/** The most entries that one query of the index returns. */
const maxCounted = 1_000;

type Found = { readonly found: number; readonly newest: string };

/**
 * Counts the caller's extractions in this scope, as the index shows them now. Undefined if a named extraction does not exist or belongs to
 * another caller.
 */
const findNow = async (
  scope: ErasureScope,
  caller: string,
  { extractions, index }: AnswerErasureDeps,
): Promise<Found | undefined> => {
  if ('extractionId' in scope) {
    const record = isUuid(scope.extractionId) ? await extractions.get(scope.extractionId) : undefined;
    return record?.requestedBy === caller ? { found: 1, newest: record.requestedAt } : undefined;
  }
  const query = { by: 'reference', name: scope.reference, requestedBy: caller } as const;
  const { entries } = await index.find({ ...query, limit: maxCounted, after: undefined });
  // The first entry is the newest.
  return { found: entries.length, newest: entries[0]?.requestedAt ?? '' };
};

const progressOf = async (erasure: Erasure, { tombstones }: AnswerErasureDeps): Promise<PublicErasure> => {
  let found = 0;
  const times: string[] = [];
  for await (const { erasedAt } of tombstones(erasure.erasureId)) {
    found += 1;
    if (erasedAt !== undefined) times.push(erasedAt);
  }
  return viewOf(erasure, { found, erased: times.length, erasedAt: times.toSorted().at(-1) });
};

/**
 * In seconds. If a process ends before it has sent the search, no other process carries out that erasure. After this time it is replaced.
 */
const searchedWithin = 15 * 60;

/** The last erasure of the scope, if it is open and covers all that was asked. An erasure covers only what was requested before it. */
const openErasure = async (
  erasureId: string | undefined,
  newest: string,
  deps: AnswerErasureDeps,
): Promise<PublicErasure | undefined> => {
  const erasure = erasureId === undefined ? undefined : await deps.erasures.get(erasureId);
  if (erasure === undefined || newest > erasure.askedAt) return undefined;
  const isAbandoned =
    erasure.searchedAt === undefined && secondsSince(erasure.askedAt, deps.now()) > searchedWithin;
  if (isAbandoned) return undefined;
  const progress = await progressOf(erasure, deps);
  return progress.status === 'ERASED' ? undefined : progress;
};

/** A try fails if another request for the same scope was faster. The next try finds that erasure. */
const maxTries = 5;

const begin = async (
  event: ErasureEvent,
  caller: string,
  deps: AnswerErasureDeps,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const body = parseRequestBody(event, bodyLimitBytes);
  if (body.kind !== 'json') return refuseBody(body, bodyLimitBytes);
  const parsed = parseErasureRequest(body.json);
  if (parsed.kind === 'invalid') return problem('invalid-request', { errors: parsed.violations });
  const now = await findNow(parsed.scope, caller, deps);
  // The same answer for "does not exist" and "belongs to another caller", as for `GET /extractions/{extractionId}`.
  if (now === undefined) return problem('not-found');
  const accepted = (view: PublicErasure) =>
    jsonAnswer(view, { statusCode: 202, headers: { location: `/erasures/${view.erasureId}` } });
  const scopeMac = keyedMac(await deps.fingerprintKey(), 'erasure', [caller, parsed.scope], 128);
  for (let tries = 0; tries < maxTries; tries += 1) {
    const last = await deps.erasures.lastOf(scopeMac);
    const open = await openErasure(last, now.newest, deps);
    if (open !== undefined) return accepted(open);
    const erasureId = deps.newId();
    const asked = { erasureId, askedBy: caller, requestedBy: caller, askedAt: deps.now().toISOString() };
    if (!(await beginErasureOf(scopeMac, { ...asked, ...parsed.scope }, last, deps))) continue;
    // The reference is not logged, because it may name a person.
    deps.telemetry.log('Erasure requested.', { caller, erasureId, found: now.found });
    return accepted(viewOf(asked, { found: now.found, erased: 0 }));
  }
  return problem('unavailable');
};

const read = async (
  event: ErasureEvent,
  caller: string,
  deps: AnswerErasureDeps,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const erasureId = event.pathParameters?.erasureId ?? '';
  const erasure = isUuid(erasureId) ? await deps.erasures.get(erasureId) : undefined;
  if (erasure === undefined || erasure.askedBy !== caller) return problem('erasure-not-found');
  return jsonAnswer(await progressOf(erasure, deps));
};

/**
 * Answers `POST /erasures` and `GET /erasures/{erasureId}`, only for the caller's own extractions. It records the request, and another
 * function erases. A repeated request is answered with the open erasure of the same scope. Throws what its dependencies throw.
 */
export const answerErasure = async (
  event: ErasureEvent,
  deps: AnswerErasureDeps,
): Promise<APIGatewayProxyStructuredResultV2> => {
  const identified = identifyCaller(event.requestContext);
  if (identified.kind === 'refused') return identified.answer;
  const { caller } = identified;
  return event.routeKey === 'POST /erasures' ? begin(event, caller, deps) : read(event, caller, deps);
};
