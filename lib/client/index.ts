/** A service that requests extractions imports this as `@cosecha/cosecha/client`. */

export type { BatchSummary, ErasureScope, PublicErasure } from '../extraction/api/public-view.ts';
export { ApiError, NoAnswerError } from './api-errors.ts';
export {
  type CallOptions,
  type ExtractionsClient,
  type ExtractionsClientOptions,
  extractionsClient,
  type RequestOptions,
} from './extractions-client.ts';
export { type ExtractionName, RepeatedPageError } from './find-extractions.ts';
export {
  type BatchProgress,
  type BatchRequest,
  type RefusedRequest,
  type RequestAllOptions,
  SameRequestError,
} from './request-all.ts';
export type { ExtractionRequest, RequestedExtraction } from './request-extraction.ts';
export type { Credentials, SignedFetch } from './signed-fetch.ts';
export { NoSuchExtractionError } from './wait-for-outcome.ts';
