import type { ExtractionRequest } from './parse-request.ts';
import { sealedPlaintextOf } from './parse-request.ts';
import type { AskedByConsent, AskedByCredentials, Extraction } from './record.ts';
import type { SealedPlaintext } from './sealed-plaintext.ts';
import type { ExtractionStore } from './store.ts';
import { plusSeconds, type Timings } from './timings.ts';
import { requestedUntil } from './transitions.ts';

/** The input of an execution. Its history holds ciphertext only. */
export type ExecutionInput = {
  readonly extractionId: string;
  /** Of the record that it was started for. An execution outlives a record that is erased or lost; this tells. */
  readonly requestId: string;
  readonly request: Omit<AskedByCredentials, 'method'> | Omit<AskedByConsent, 'method'>;
  /** Base64 of the KMS ciphertext: of the credentials or, by consent, of the target. */
  readonly sealedCredentials: string;
};

export type RequestDeps = {
  readonly extractions: ExtractionStore;
  /** Encrypts under the seal key, bound to the extractionId. */
  readonly seal: (extractionId: string, plaintext: SealedPlaintext) => Promise<string>;
  /** Starts the execution named after the extractionId; one that exists already is success. */
  readonly startExecution: (input: ExecutionInput) => Promise<void>;
  readonly now: () => Date;
  readonly timings: Timings;
};

export type RequestOutcome =
  | { readonly kind: 'accepted'; readonly record: Extraction }
  /** The same request came before under this key. */
  | { readonly kind: 'replayed'; readonly record: Extraction }
  /** Another request came before under this key: nothing was changed. */
  | { readonly kind: 'key-reused' };

/** The part of a request that whoever may read the record may read. */
const askedFor = (request: ExtractionRequest): AskedByCredentials | AskedByConsent => {
  if (request.method === 'consent') {
    const { method, product, consentId, variant } = request;
    return { method, product, consentId, variant };
  }
  const { method, entity, actions } = request;
  return { method, entity, actions };
};

const newRecord = (order: RequestOrder, now: Date, timings: Timings): Extraction => {
  const { reference } = order.request;
  const requestedAt = now.toISOString();
  return {
    schemaVersion: 1,
    extractionId: order.extractionId,
    ...askedFor(order.request),
    ...(reference === undefined ? {} : { reference }),
    requestedBy: order.requestedBy,
    requestedAt,
    requestId: order.requestId,
    deadlineAt: plusSeconds(now, timings.deadline),
    status: 'REQUESTED',
    fingerprint: order.fingerprint,
    ...requestedUntil(order.extractionId, requestedAt, timings),
  };
};

export type RequestOrder = {
  readonly extractionId: string;
  readonly requestedBy: string;
  readonly requestId: string;
  readonly fingerprint: string;
  readonly request: ExtractionRequest;
};

/**
 * Seals, records, starts the execution, in this order (design, section 6). A crash in between is healed by the
 * caller's retry, which finds `REQUESTED` inside the start window and goes on, or ends as `NOT_STARTED`.
 */
export const request = async (order: RequestOrder, deps: RequestDeps): Promise<RequestOutcome> => {
  const sealedCredentials = await deps.seal(order.extractionId, sealedPlaintextOf(order.request));
  const now = deps.now();
  const mine = newRecord(order, now, deps.timings);
  const creation = await deps.extractions.create(mine);
  const record = creation.created ? mine : creation.record;
  if (record.fingerprint !== order.fingerprint) return { kind: 'key-reused' };

  const windowEnd = plusSeconds(record.requestedAt, deps.timings.startWindow);
  if (record.status === 'REQUESTED' && now.toISOString() < windowEnd) {
    const { method: _method, ...asked } = askedFor(order.request);
    await deps.startExecution({
      extractionId: order.extractionId,
      requestId: record.requestId,
      request: asked,
      sealedCredentials,
    });
  }
  // A put whose answer was lost is sent again by the SDK and then finds the row that it had written itself.
  const isMine = record.requestId === mine.requestId;
  return { kind: isMine ? 'accepted' : 'replayed', record };
};
