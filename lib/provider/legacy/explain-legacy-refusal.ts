import type { LegacyRefusal, ProviderError } from '../transport/errors.ts';
import { ProviderBusy, ProviderRefused, ProviderUnauthorized } from '../transport/errors.ts';
import { statusError } from '../transport/send-request.ts';

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
