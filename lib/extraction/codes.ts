import { NotConfigured } from '../not-configured.ts';
import type { Consent } from '../provider/consents/get-consent.ts';
import {
  InvalidProviderRequest,
  type LegacyRefusal,
  type NamedError,
  ProviderAmbiguous,
  ProviderAnswerTooLarge,
  ProviderBusy,
  type ProviderError,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../provider/transport/errors.ts';

/** In characters. No known code is longer. */
const maxCode = 64;

/** A national id has at least six digits, and a code such as `E1042` has fewer. */
const maxDigits = 4;

/**
 * Whether a text of the provider looks like one of its codes: a letter, then letters, digits, `_`, `-` and `.`. The API
 * document lists no complete set of codes. Any other text may contain personal data and must not be recorded.
 */
export const looksLikeCode = (text: string): boolean =>
  /^[A-Za-z][\w.-]*$/.test(text) && text.length <= maxCode && text.replace(/\D/g, '').length <= maxDigits;

/** A code in letters, digits and underscores. A text that is not a code becomes `OTHER`. */
const normalized = (code: string): string => (looksLikeCode(code) ? code.replace(/[.-]/g, '_') : 'OTHER');

/** The `reason` of an extraction that the provider refused or failed: `errorType` or `errorType/errorCode`. */
export const failureReason = (failure: NamedError): string =>
  failure.errorCode === undefined
    ? normalized(failure.errorType)
    : `${normalized(failure.errorType)}/${normalized(failure.errorCode)}`;

/** The refusals that have a code of their own. An expired token is replaced, so that it is no cause. */
const refusalCodes: Partial<Record<LegacyRefusal, string>> = {
  temporarilyRestricted: 'user-restricted',
  forbidden: 'forbidden',
  processAlreadyRunning: 'user-busy',
  notEnoughCredits: 'quota-reached',
};

const httpCode = (status: number, named: NamedError | undefined): string =>
  named === undefined ? `http-${status}` : `http-${status}/${failureReason(named)}`;

/** What a status showed that is not the reason by itself: a body of another form, or none. */
const codeOfAmbiguous = ({ status, reason, named }: ProviderAmbiguous): string => {
  if (status === undefined) return reason ?? 'reset';
  return status >= 300 && status < 400 ? 'redirect' : httpCode(status, named);
};

/**
 * A failed call as one of the public codes (causes.ts). It is made from classes, statuses and what has the form of a code, never from a
 * message or a text. Any other error is one of Cosecha's own.
 */
export const problemOf = (error: unknown): string => {
  const { refusal, named } = error as ProviderError & { readonly refusal?: LegacyRefusal };
  const refused = refusal === undefined ? undefined : refusalCodes[refusal];
  if (error instanceof ProviderUnreachable) return 'unreachable';
  if (error instanceof ProviderUnauthorized) return httpCode(401, named);
  if (error instanceof ProviderBusy) return refused ?? httpCode(429, named);
  if (error instanceof ProviderRefused) return refused ?? httpCode(error.status, named);
  if (error instanceof ProviderExtractionFailed) return httpCode(error.status, error);
  if (error instanceof ProviderAmbiguous) return codeOfAmbiguous(error);
  if (error instanceof ProviderAnswerTooLarge) return 'answer-too-large';
  if (error instanceof InvalidProviderRequest) return 'invalid-request';
  if (error instanceof NotConfigured)
    return error.what === 'secret' ? 'secret-not-filled' : 'setting-missing';
  return 'InternalError';
};

/** As `problemOf`, for a call that was to bring a token. These two say all there is. */
export const loginProblemOf = (error: unknown): string => {
  const problem = problemOf(error);
  return problem === 'unreachable' || error instanceof NotConfigured ? problem : `login-${problem}`;
};

/** Whether a text is a code that start-task, and nobody else, may have put into the cause of a failed state. */
export const isProblem = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= 200 && text.split('/').every(looksLikeCode);

const consentCodes: Readonly<Record<string, string>> = {
  EXPIRED: 'consent-expired',
  REVOKED: 'consent-revoked',
  INVALID_PASSWORD: 'consent-invalid-password',
  DISCARDED: 'consent-discarded',
  ONE_SHOT_ALREADY_USED: 'consent-one-shot-already-used',
};

/** Why no extraction can start under a consent. Undefined if its state does not show it. */
export const consentProblemOf = ({ status, subStatus }: Pick<Consent, 'status' | 'subStatus'>) => {
  if (status === 'IN_PROGRESS') return 'consent-in-progress';
  return status === 'INACTIVE' && Object.hasOwn(consentCodes, subStatus ?? '')
    ? consentCodes[subStatus ?? '']
    : undefined;
};
