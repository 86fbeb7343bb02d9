import { defined } from '../defined.ts';
import type { ConsentRequest, CredentialsRequest } from '../extraction/api/parse-request.ts';
import type { PublicExtraction } from '../extraction/api/public-view.ts';
import { isIdempotencyKey } from '../idempotency-key.ts';
import { type Answer, type SendDeps, sendWithRetries } from './send-with-retries.ts';

/** The body of `POST /extractions`. Defaults: `method` is `credentials`, `variant` is `v1`. */
export type ExtractionRequest =
  | (Omit<CredentialsRequest, 'method'> & { readonly method?: 'credentials' })
  | (Omit<ConsentRequest, 'variant'> & { readonly variant?: ConsentRequest['variant'] });

export type RequestedExtraction = {
  /** The extraction as it was recorded, or for a replay as it is now. */
  readonly extraction: PublicExtraction;
  /** Whether the same request was made before under this key. */
  readonly replayed: boolean;
};

/** Makes `POST /extractions` under a key, with a JSON body. */
export const postOf = (idempotencyKey: string, body: string, traceparent?: string): RequestInit => ({
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'idempotency-key': idempotencyKey,
    ...defined({ traceparent }),
  },
  body,
});

export const isReplay = ({ headers }: Pick<Answer, 'headers'>): boolean =>
  headers.get('idempotency-replayed') === 'true';

/**
 * Requests an extraction, and retries transient failures. All tries have the same key, so they are one extraction. Throws ApiError,
 * NoAnswerError if the request may have been accepted, and RangeError for an invalid key.
 */
export const requestExtraction = async (
  apiUrl: string,
  request: ExtractionRequest,
  idempotencyKey: string,
  { traceparent, ...deps }: SendDeps & { readonly traceparent?: string },
): Promise<RequestedExtraction> => {
  if (!isIdempotencyKey(idempotencyKey)) {
    throw new RangeError('An idempotencyKey has 1 to 255 printable ASCII characters.');
  }
  const post = postOf(idempotencyKey, JSON.stringify(request), traceparent);
  const answer = await sendWithRetries(`${apiUrl}/extractions`, post, deps);
  return { extraction: JSON.parse(answer.body) as PublicExtraction, replayed: isReplay(answer) };
};
