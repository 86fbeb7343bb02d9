import { randomUUID } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { regionIn } from '../aws-region.ts';
import { defined } from '../defined.ts';
import type {
  BatchSummary,
  ErasureScope,
  PublicErasure,
  PublicExtraction,
} from '../extraction/api/public-view.ts';
import { memoize } from '../memoize.ts';
import { erase, getErasure } from './erase.ts';
import { type ExtractionName, findExtractions, summarizeBatch } from './find-extractions.ts';
import { getExtraction } from './get-extraction.ts';
import { type BatchProgress, type BatchRequest, type RequestAllOptions, requestAll } from './request-all.ts';
import { type ExtractionRequest, type RequestedExtraction, requestExtraction } from './request-extraction.ts';
import { type Credentials, type SignedFetch, signedFetch } from './signed-fetch.ts';
import { waitForBatch } from './wait-for-batch.ts';
import { waitForOutcome } from './wait-for-outcome.ts';

export type ExtractionsClientOptions = {
  /** The stack's output `ApiUrl`. */
  readonly apiUrl: string;
  /** Default: `AWS_REGION`, then `AWS_DEFAULT_REGION`. */
  readonly region?: string;
  /** Default: the credentials that the AWS SDK finds (environment, profile, container, instance). */
  readonly credentials?: () => Promise<Credentials>;
  /** Signs and sends. Replaces `region` and `credentials`. */
  readonly fetch?: SignedFetch;
};

export type CallOptions = {
  /** Ends the call with its reason, such as `AbortSignal.timeout(600_000)`. The extraction continues. */
  readonly signal?: AbortSignal;
};

export type RequestOptions = CallOptions & {
  /**
   * Printable ASCII, at most 255 characters. The same key never starts a second extraction. So give one that your service can find again
   * after a crash, such as an order number. By default, only the retries of this call share a key.
   */
  readonly idempotencyKey?: string;
  /**
   * The W3C Trace Context of this request, which consumers of the outcome can continue. Leave it out if an instrumentation of fetch adds
   * the header: this client signs the header, so a second one would make the signature invalid.
   */
  readonly traceparent?: string;
  readonly onRetry?: (reason: string) => void;
};

export type ExtractionsClient = {
  readonly requestExtraction: (
    request: ExtractionRequest,
    options?: RequestOptions,
  ) => Promise<RequestedExtraction & { readonly idempotencyKey: string }>;
  /**
   * Requests all extractions of a batch, as fast as the throttle allows. A second run starts nothing again. `requestAll` in
   * `request-all.ts` documents what it throws.
   */
  readonly requestAll: (
    requests: Iterable<BatchRequest> | AsyncIterable<BatchRequest>,
    options: RequestAllOptions & CallOptions & Pick<RequestOptions, 'onRetry'>,
  ) => Promise<BatchProgress>;
  readonly getExtraction: (
    extractionId: string,
    options?: CallOptions,
  ) => Promise<PublicExtraction | undefined>;
  /** The caller's own extractions with this reference or of this batch, in any status, newest first. Throws ApiError and NoAnswerError. */
  readonly findExtractions: (name: ExtractionName, options?: CallOptions) => AsyncIterable<PublicExtraction>;
  /**
   * Asks to erase one of the caller's own extractions, or all with a reference, if the deployment has `callersMayErase`. Throws ApiError
   * and NoAnswerError.
   */
  readonly erase: (scope: ErasureScope, options?: CallOptions) => Promise<PublicErasure>;
  /** Reads how far an erasure of this caller is. Throws ApiError and NoAnswerError. */
  readonly getErasure: (erasureId: string, options?: CallOptions) => Promise<PublicErasure | undefined>;
  /** Counts the extractions of a batch by status and advice. Throws ApiError and NoAnswerError. */
  readonly summarizeBatch: (batch: string, options?: CallOptions) => Promise<BatchSummary>;
  /**
   * Waits until nothing more happens in a batch without you: each extraction is closed, or has the advice `wait`. Returns its summary.
   * Throws ApiError.
   */
  readonly waitForBatch: (
    batch: string,
    options?: CallOptions & { readonly onSummary?: (summary: BatchSummary) => void },
  ) => Promise<BatchSummary>;
  /**
   * Waits until the `advice` of an outcome is final, and returns the extraction. `TIMED_OUT` has the advice `wait` until its grace is over,
   * a day by default. So set `signal` if a person waits. Throws ApiError and NoSuchExtractionError.
   */
  readonly waitForOutcome: (extractionId: string, options?: CallOptions) => Promise<PublicExtraction>;
};

/**
 * A client of Cosecha's API for services in the stack's account. `docs/api.md` describes the API.
 *
 * @example
 * import { extractionsClient } from '@cosecha/cosecha/client';
 *
 * const cosecha = extractionsClient({ apiUrl: 'https://abc123.execute-api.sa-east-1.amazonaws.com' });
 * const request = { consentId: 'consent-1', product: 'movement', target: '11111111-1', method: 'consent' } as const;
 * const { extraction } = await cosecha.requestExtraction(request, { idempotencyKey: 'order-7' });
 * const { status, advice } = await cosecha.waitForOutcome(extraction.extractionId);
 * console.log(status, advice);
 */
export const extractionsClient = (options: ExtractionsClientOptions): ExtractionsClient => {
  const apiUrl = options.apiUrl.replace(/\/$/, '');
  const fetch =
    options.fetch ??
    signedFetch({ region: regionOf(options), credentials: options.credentials ?? ambientCredentials() });
  const endedBy = (signal: AbortSignal | undefined) => {
    const sleep = (ms: number): Promise<void> =>
      sleepFor(ms, undefined, defined({ signal })).catch((error: unknown) => {
        throw signal?.aborted ? signal.reason : error;
      });
    return { fetch, sleep, ...defined({ signal }) };
  };
  return {
    requestExtraction: async (
      request,
      { idempotencyKey = randomUUID(), traceparent, onRetry, signal } = {},
    ) => {
      const deps = { ...endedBy(signal), ...defined({ onRetry, traceparent }) };
      return { ...(await requestExtraction(apiUrl, request, idempotencyKey, deps)), idempotencyKey };
    },
    getExtraction: (extractionId, { signal } = {}) => getExtraction(apiUrl, extractionId, endedBy(signal)),
    findExtractions: (name, { signal } = {}) => findExtractions(apiUrl, name, endedBy(signal)),
    erase: (scope, { signal } = {}) => erase(apiUrl, scope, endedBy(signal)),
    getErasure: (erasureId, { signal } = {}) => getErasure(apiUrl, erasureId, endedBy(signal)),
    summarizeBatch: (batch, { signal } = {}) => summarizeBatch(apiUrl, batch, endedBy(signal)),
    requestAll: (requests, { signal, onRetry, ...options }) =>
      requestAll(apiUrl, requests, options, { ...endedBy(signal), ...defined({ onRetry }) }),
    waitForBatch: (batch, { signal, onSummary } = {}) => {
      const deps = endedBy(signal);
      const summarize = (name: string) => summarizeBatch(apiUrl, name, deps);
      return waitForBatch(batch, { summarize, sleep: deps.sleep, ...defined({ onSummary }) });
    },
    waitForOutcome: (extractionId, { signal } = {}) => {
      const deps = endedBy(signal);
      const get = (id: string) => getExtraction(apiUrl, id, deps);
      return waitForOutcome(extractionId, { get, sleep: deps.sleep });
    },
  };
};

const regionOf = ({ region = regionIn(process.env) }: ExtractionsClientOptions): string => {
  if (region !== undefined && region !== '') return region;
  throw new TypeError('No region is set. Pass region, or set AWS_REGION.');
};

/** The SDK's default chain. It is loaded at the first request, so that a caller that passes credentials never loads it. */
const ambientCredentials = (): (() => Promise<Credentials>) => {
  const chain = memoize(async () => (await import('@aws-sdk/credential-provider-node')).defaultProvider());
  return async () => (await chain())();
};
