import { defined } from '../../defined.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { plusSeconds, type Timings, windowEnd } from '../deadlines.ts';
import * as due from '../due.ts';
import type { ConsentMethod, CredentialsMethod, Extraction } from '../record.ts';
import { forgetRequest, requestExpiry } from '../request-data.ts';
import type { SealedRequestData } from '../sealed-request-data.ts';
import type { ExtractionStore, RepeatCounter, RequestStore } from '../store.ts';
import { requestDataToSeal, type ValidRequest } from './parse-request.ts';

/** The input of an execution. Histories show it for 90 days, so it has two ids and nothing of the request. */
export type ExecutionInput = {
  readonly extractionId: string;
  /** Of the record that it was started for. An execution can outlive its record, if that is erased or lost. */
  readonly requestId: string;
};

export type RequestDeps = {
  readonly extractions: ExtractionStore;
  readonly requests: RequestStore;
  readonly repeats: RepeatCounter;
  /** Encrypts under the seal key, bound to the record's ids, caller and request. Returns base64. */
  readonly seal: (record: Extraction, plaintext: SealedRequestData) => Promise<string>;
  /** Starts the execution whose name is the extractionId. An existing one is success. */
  readonly startExecution: (input: ExecutionInput) => Promise<void>;
  /** 128 random bits, so that no caller can choose the key of the item. */
  readonly newRequestId: () => string;
  /** False if the provider sends no webhooks. The record keeps it, so that a changed setting concerns later requests only. */
  readonly sendsWebhooks: boolean;
  readonly telemetry: Telemetry;
  readonly now: () => Date;
  readonly timings: Timings;
};

type RequestOutcome =
  | { readonly kind: 'accepted'; readonly record: Extraction }
  /** The same request was made before under this key. */
  | { readonly kind: 'replayed'; readonly record: Extraction }
  /** Another request was made before under this key. Its record is as it was. */
  | { readonly kind: 'key-reused' }
  /** Too many other requests were made under this key. Nothing is compared, so that no password can be guessed. */
  | { readonly kind: 'key-reused-often'; readonly retryAfter: number };

/** The part of a request that is recorded unencrypted. */
const methodOf = (request: ValidRequest): CredentialsMethod | ConsentMethod => {
  if (request.method === 'consent') {
    const { method, product, consentId, variant } = request;
    return { method, product, consentId, variant };
  }
  const { method, entity, actions } = request;
  return { method, entity, actions };
};

const newRecord = (input: RequestInput, requestId: string, now: Date, deps: RequestDeps): Extraction => {
  const { timings, sendsWebhooks } = deps;
  const { traceparent } = input;
  const { reference, batch, priority } = input.request;
  const requestedAt = now.toISOString();
  return {
    schemaVersion: 1,
    extractionId: input.extractionId,
    ...methodOf(input.request),
    ...defined({ reference, batch, priority, traceparent }),
    requestedBy: input.requestedBy,
    requestedAt,
    requestId,
    ...(sendsWebhooks || input.request.method === 'consent' ? {} : { withoutWebhook: true }),
    deadlineAt: plusSeconds(now, timings.deadline),
    status: 'REQUESTED',
    fingerprint: input.fingerprint,
    ...due.attributes(input.extractionId, due.notStarted(requestedAt, timings)),
  };
};

export type RequestInput = {
  readonly extractionId: string;
  readonly requestedBy: string;
  readonly fingerprint: string;
  readonly request: ValidRequest;
  /** As `parseTraceparent` returns it. A repeated request keeps the trace of the first, although it has another one. */
  readonly traceparent?: string | undefined;
};

/**
 * Seals, stores what is sealed, records, and starts the execution, in this order (design, section 6). After a crash in
 * between, the caller's retry finds `REQUESTED` and continues. Without a retry the record ends as `NOT_STARTED`. Throws
 * what a dependency throws.
 */
export const createExtraction = async (input: RequestInput, deps: RequestDeps): Promise<RequestOutcome> => {
  const { extractionId } = input;
  const requestId = deps.newRequestId();
  const now = deps.now();
  const candidate = newRecord(input, requestId, now, deps);
  const sealed = await deps.seal(candidate, requestDataToSeal(input.request));
  await deps.requests.put({
    requestId,
    extractionId,
    sealed,
    expiresAt: requestExpiry(candidate, deps.timings),
  });
  const creation = await deps.extractions.create(candidate);
  const record = creation.created ? candidate : creation.record;
  // The record that was found may be this request's own: the SDK repeats a put whose answer was lost.
  const isOfThisRequest = record.requestId === requestId;
  // If `create` throws, nobody knows whether it wrote, and a start may need this request's own item. So it is removed only here.
  if (!isOfThisRequest) await forgetRequest('another-request', candidate, deps);
  if (!isOfThisRequest) {
    const counted = await deps.repeats.count(extractionId, now);
    if (counted !== 'counted') return { kind: 'key-reused-often', ...counted };
    const isSame = record.fingerprint === input.fingerprint;
    await deps.repeats.compared(extractionId, isSame);
    if (!isSame) return { kind: 'key-reused' };
  }

  const isStartable = now.toISOString() < windowEnd(record.requestedAt, deps.timings);
  if (record.status === 'REQUESTED' && isStartable) {
    await deps.startExecution({ extractionId, requestId: record.requestId });
  }
  return { kind: isOfThisRequest ? 'accepted' : 'replayed', record };
};
