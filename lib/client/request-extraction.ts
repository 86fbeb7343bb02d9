import { defined } from '../defined.ts';
import type { ConsentRequest, CredentialsRequest } from '../extraction/api/parse-request.ts';
import type { PublicExtraction } from '../extraction/api/public-view.ts';
import { isIdempotencyKey } from '../idempotency-key.ts';
import { type SendDeps, sendWithRetries } from './send-with-retries.ts';

/** The body of `POST /extractions`. Defaults: `method` is `credentials`, `variant` is `v1`. */
export type ExtractionRequest =
  | (Omit<CredentialsRequest, 'method'> & { readonly method?: 'credentials' })
  | (Omit<ConsentRequest, 'variant'> & { readonly variant?: ConsentRequest['variant'] });

export type RequestedExtraction = {
  /** As it was recorded. For a replay, as it is now. */
  readonly extraction: PublicExtraction;
  /** Whether the same request was made before under this key. */
  readonly replayed: boolean;
};

/**
 * Requests an extraction, and retries transient failures. The key makes that safe: all tries are one extraction. Throws
 * ApiError, NoAnswerError where the request may have been accepted, and RangeError for a key that the API does not accept.
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
  const { headers, body } = await sendWithRetries(
    `${apiUrl}/extractions`,
    {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
        ...defined({ traceparent }),
      },
      body: JSON.stringify(request),
    },
    deps,
  );
  return {
    extraction: JSON.parse(body) as PublicExtraction,
    replayed: headers.get('idempotency-replayed') === 'true',
  };
};
