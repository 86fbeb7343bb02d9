import { defined } from '../../defined.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { isWindowOver, plusSeconds, type Timings, windowEnd } from '../deadlines.ts';
import * as due from '../due.ts';
import type { ConsentMethod, CredentialsMethod, Extraction } from '../record.ts';
import { forgetRequest, requestExpiry } from '../request-data.ts';
import type { SealedRequestData } from '../sealed-request-data.ts';
import type { ExtractionStore, RepeatCounter, RequestStore } from '../store.ts';
import { requestDataToSeal, type ValidRequest } from './parse-request.ts';

/** The input of an execution. Histories show it for 90 days, so it has two ids and nothing else of the request. */
export type ExecutionInput = {
  readonly extractionId: string;
  /** The request of the record for which it was started. If the record is erased or lost, its execution can outlive it. */
  readonly requestId: string;
};

export type RequestDeps = {
  readonly extractions: ExtractionStore;
  readonly requests: RequestStore;
  readonly repeats: RepeatCounter;
  /** Encrypts under the seal key, bound to the record's ids, caller and request. Returns base64. Throws the SDK's errors (500). */
  readonly seal: (record: Extraction, plaintext: SealedRequestData) => Promise<string>;
  /**
   * Starts the execution with the extractionId as its name. If it exists already, that is success. Throws Throttled (503) above the quota.
   */
  readonly startExecution: (input: ExecutionInput) => Promise<void>;
  /** 128 random bits, so that no caller can choose the key of the item. */
  readonly newRequestId: () => string;
  /** False if the provider sends no webhooks. The record stores it, so that a change of the setting affects only later requests. */
  readonly sendsWebhooks: boolean;
  readonly telemetry: Telemetry;
  readonly now: () => Date;
  readonly timings: Timings;
};

type RequestOutcome =
  | { readonly kind: 'accepted'; readonly record: Extraction }
  /** The same request was made before under this key. */
  | { readonly kind: 'replayed'; readonly record: Extraction }
  /** Another request was made before under this key. Its record stays unchanged. */
  | { readonly kind: 'key-reused' }
  /** Too many other requests were made under this key. This one is not compared, so that no password can be guessed. */
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
    ...due.attributes(input.extractionId, windowEnd(requestedAt, timings)),
  };
};

export type RequestInput = {
  readonly extractionId: string;
  readonly requestedBy: string;
  readonly fingerprint: string;
  readonly request: ValidRequest;
  /** As `parseTraceparent` returns it. The record keeps the trace of the first request, even if a repeated one has another. */
  readonly traceparent?: string | undefined;
};

/**
 * Seals the request, stores the sealed data, writes the record, and starts the execution, in this order (design, section 6). After a crash
 * after the record was written, a retry with the same key finds `REQUESTED` and continues. Without one, the record ends as `NOT_STARTED`.
 * Throws what its dependencies throw.
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
  // The SDK repeats a put whose answer was lost. So the found record may belong to this request.
  const isOfThisRequest = record.requestId === requestId;
  if (!isOfThisRequest) {
    // The item is removed only here, and a failure is only counted. If `create` throws, it may have written the record, and a start may need
    // the item.
    await forgetRequest('another-request', candidate, deps);
    const counted = await deps.repeats.count(extractionId, now);
    if (counted !== 'counted') return { kind: 'key-reused-often', ...counted };
    const isSame = record.fingerprint === input.fingerprint;
    await deps.repeats.compared(extractionId, isSame);
    if (!isSame) return { kind: 'key-reused' };
  }

  if (record.status === 'REQUESTED' && !isWindowOver(record, now, deps.timings)) {
    await deps.startExecution({ extractionId, requestId: record.requestId });
  }
  return { kind: isOfThisRequest ? 'accepted' : 'replayed', record };
};
