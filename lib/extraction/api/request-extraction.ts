import { plusSeconds, type Timings } from '../deadlines.ts';
import type { ConsentMethod, CredentialsMethod, Extraction } from '../record.ts';
import type { SealedRequestData } from '../sealed-request-data.ts';
import type { ExtractionStore } from '../store.ts';
import { dueAtWindowEnd } from '../transitions.ts';
import { type ExtractionRequest, requestDataToSeal } from './parse-request.ts';

/** The input of an execution. Histories show it, so it contains only ciphertext of what is sealed. */
export type ExecutionInput = {
  readonly extractionId: string;
  /** Of the record that it was started for. An execution can outlive its record, if that is erased or lost. */
  readonly requestId: string;
  readonly request: Omit<CredentialsMethod, 'method'> | Omit<ConsentMethod, 'method'>;
  /** Base64 of the KMS ciphertext of the sealed request data. */
  readonly sealed: string;
};

export type RequestDeps = {
  readonly extractions: ExtractionStore;
  /** Encrypts under the seal key, bound to the extractionId. Returns base64. */
  readonly seal: (extractionId: string, plaintext: SealedRequestData) => Promise<string>;
  /** Starts the execution whose name is the extractionId. An existing one is success. */
  readonly startExecution: (input: ExecutionInput) => Promise<void>;
  readonly now: () => Date;
  readonly timings: Timings;
};

export type RequestOutcome =
  | { readonly kind: 'accepted'; readonly record: Extraction }
  /** The same request was made before under this key. */
  | { readonly kind: 'replayed'; readonly record: Extraction }
  /** Another request was made before under this key. Nothing was changed. */
  | { readonly kind: 'key-reused' };

/** The part of a request that is recorded unencrypted. */
const methodOf = (request: ExtractionRequest): CredentialsMethod | ConsentMethod => {
  if (request.method === 'consent') {
    const { method, product, consentId, variant } = request;
    return { method, product, consentId, variant };
  }
  const { method, entity, actions } = request;
  return { method, entity, actions };
};

const newRecord = (input: RequestInput, now: Date, timings: Timings): Extraction => {
  const { reference } = input.request;
  const requestedAt = now.toISOString();
  return {
    schemaVersion: 1,
    extractionId: input.extractionId,
    ...methodOf(input.request),
    ...(reference === undefined ? {} : { reference }),
    requestedBy: input.requestedBy,
    requestedAt,
    requestId: input.requestId,
    deadlineAt: plusSeconds(now, timings.deadline),
    status: 'REQUESTED',
    fingerprint: input.fingerprint,
    ...dueAtWindowEnd(input.extractionId, requestedAt, timings),
  };
};

export type RequestInput = {
  readonly extractionId: string;
  readonly requestedBy: string;
  readonly requestId: string;
  readonly fingerprint: string;
  readonly request: ExtractionRequest;
};

/**
 * Seals, records, and starts the execution, in this order (design, section 6). After a crash in between, the caller's
 * retry finds `REQUESTED` and continues. Without a retry the record ends as `NOT_STARTED`. Throws what a dependency throws.
 */
export const requestExtraction = async (input: RequestInput, deps: RequestDeps): Promise<RequestOutcome> => {
  const sealed = await deps.seal(input.extractionId, requestDataToSeal(input.request));
  const now = deps.now();
  const mine = newRecord(input, now, deps.timings);
  const creation = await deps.extractions.create(mine);
  const record = creation.created ? mine : creation.record;
  if (record.fingerprint !== input.fingerprint) return { kind: 'key-reused' };

  const windowEnd = plusSeconds(record.requestedAt, deps.timings.startWindow);
  if (record.status === 'REQUESTED' && now.toISOString() < windowEnd) {
    const { method: _method, ...request } = methodOf(input.request);
    await deps.startExecution({
      extractionId: input.extractionId,
      requestId: record.requestId,
      request,
      sealed,
    });
  }
  // The SDK repeats a put whose answer was lost, and the repetition then finds the row of the first try.
  const isMine = record.requestId === mine.requestId;
  return { kind: isMine ? 'accepted' : 'replayed', record };
};
