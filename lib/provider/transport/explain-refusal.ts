import * as v from 'valibot';
import {
  type LegacyRefusal,
  ProviderBusy,
  type ProviderError,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
} from './errors.ts';
import { parseJson, statusError } from './send-request.ts';

/** "Sandbox presets for `POST /api/v1/tasks`". */
const presets: readonly {
  readonly refusal: LegacyRefusal;
  readonly status: number;
  readonly text: string;
}[] = [
  { refusal: 'jwtExpired', status: 401, text: 'Jwt is expired' },
  {
    refusal: 'temporarilyRestricted',
    status: 403,
    text: 'Username/action pair has been temporarily restricted due to multiple failed authentication attempts',
  },
  { refusal: 'forbidden', status: 403, text: "You don't have sufficient permissions to perform this action" },
  {
    refusal: 'processAlreadyRunning',
    status: 429,
    text: 'Another request for this user is currently running',
  },
  { refusal: 'notEnoughCredits', status: 429, text: 'Request monthly quota reached' },
];

/**
 * Returns the error for a status, with the document's name for the text in the answer. Only the name is kept, never the
 * text. The position of the text in the body is not shown, so any position is accepted.
 */
export const explainLegacyRefusal = (
  status: number,
  body: Uint8Array,
  call: string,
): ProviderError & { readonly refusal?: LegacyRefusal } => {
  const error = statusError(status, call);
  const text = Buffer.from(body).toString('utf8');
  const preset = presets.find((candidate) => candidate.status === status && text.includes(candidate.text));
  if (
    preset !== undefined &&
    (error instanceof ProviderUnauthorized ||
      error instanceof ProviderBusy ||
      error instanceof ProviderRefused)
  ) {
    return Object.assign(error, { refusal: preset.refusal });
  }
  return error;
};

const failureSchema = v.object({
  errorType: v.pipe(v.string(), v.minLength(1)),
  errorCode: v.nullish(v.string()),
});

/**
 * Returns the failure in the body of a v2 answer. "Any other outcome is HTTP 4xx/5xx with a body discriminated by
 * `errorType` (and `errorCode` for subcategories)". Returns undefined for a 401, which is about the Bearer token
 * ("Authentication", rule 3), and for a body without `errorType`.
 */
export const parseExtractionFailure = (
  status: number,
  body: Uint8Array,
  call: string,
): ProviderExtractionFailed | undefined => {
  if (status < 400 || status === 401) return undefined;
  const { success, output } = v.safeParse(failureSchema, parseJson(body));
  if (!success) return undefined;
  const { errorType, errorCode } = output;
  return new ProviderExtractionFailed(
    `The provider answered ${status} to ${call}, with an error of its own.`,
    {
      status,
      errorType,
      ...(errorCode == null ? {} : { errorCode }),
    },
  );
};
