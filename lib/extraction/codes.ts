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
  retryAtOfStatus,
} from '../provider/transport/errors.ts';

/** In characters. Every known code is shorter. */
const maxCode = 64;

/** A national id has at least six digits, and a code such as `E1042` has fewer. */
const maxDigits = 4;

/**
 * Whether a text of the provider looks like one of its codes: a letter, then letters, digits, `_`, `-` and `.`. The API
 * document lists no complete set of codes. Any other text may contain personal data and must not be recorded.
 */
export const looksLikeCode = (text: string): boolean =>
  /^[A-Za-z][\w.-]*$/.test(text) && text.length <= maxCode && text.replace(/\D/g, '').length <= maxDigits;

/** Converts a code to letters, digits and underscores. A text that is not a code becomes `OTHER`. */
const normalized = (code: string): string => (looksLikeCode(code) ? code.replace(/[.-]/g, '_') : 'OTHER');

/** The `reason` of an extraction that the provider refused or failed: `errorType` or `errorType/errorCode`. */
export const failureReason = (failure: NamedError): string =>
  failure.errorCode === undefined
    ? normalized(failure.errorType)
    : `${normalized(failure.errorType)}/${normalized(failure.errorCode)}`;

/** The refusals with a code of their own. An expired token is replaced, so it has none. */
const refusalCodes: Partial<Record<LegacyRefusal, string>> = {
  temporarilyRestricted: 'user-restricted',
  forbidden: 'forbidden',
  processAlreadyRunning: 'user-busy',
  notEnoughCredits: 'quota-reached',
};

const httpCode = (status: number, named: NamedError | undefined): string =>
  named === undefined ? `http-${status}` : `http-${status}/${failureReason(named)}`;

/** The code of an ambiguous answer: its status if that is the reason, and otherwise `reason`. */
const codeOfAmbiguous = ({ status, reason, named }: ProviderAmbiguous): string => {
  if (status === undefined) return reason ?? 'reset';
  return status >= 300 && status < 400 ? 'redirect' : httpCode(status, named);
};

/**
 * A failed call as a public code (causes.ts). The code is made from classes, statuses and texts that look like a code, never from a
 * message. Any other error is Cosecha's own.
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

/** Whether a 429 is about the rate: it names neither quota nor user. An `errorType` is neither. */
export const isAboutRate = (error: ProviderBusy | ProviderExtractionFailed): boolean =>
  error instanceof ProviderExtractionFailed ||
  error.refusal === undefined ||
  refusalCodes[error.refusal] === undefined;

/**
 * As `problemOf`, for a call that requests a token. `unreachable`, a missing secret or setting, and a failure of Cosecha's own get no prefix:
 * they are no answer of the provider.
 */
export const loginProblemOf = (error: unknown): string => {
  const problem = problemOf(error);
  const isOurs = error instanceof NotConfigured || problem === 'InternalError';
  return isOurs || problem === 'unreachable' ? problem : `login-${problem}`;
};

/**
 * Whether a text has the form of the codes that only start-task puts into the cause of a failed state. The machine keeps a cause only if it
 * has this form, too (`lastProblem` in infra/extraction-machine-definition.ts); the meaning that start-task gives otherwise is a sentence.
 */
export const isProblem = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= 200 && text.split('/').every(looksLikeCode);

const consentCodes: Readonly<Record<string, string>> = {
  EXPIRED: 'consent-expired',
  REVOKED: 'consent-revoked',
  INVALID_PASSWORD: 'consent-invalid-password',
  DISCARDED: 'consent-discarded',
  ONE_SHOT_ALREADY_USED: 'consent-one-shot-already-used',
};

/** Why no extraction can start under a consent. Undefined if the state of the consent does not show it. */
export const consentProblemOf = ({ status, subStatus }: Pick<Consent, 'status' | 'subStatus'>) => {
  if (status === 'IN_PROGRESS') return 'consent-in-progress';
  return status === 'INACTIVE' && Object.hasOwn(consentCodes, subStatus ?? '')
    ? consentCodes[subStatus ?? '']
    : undefined;
};

const isoOf = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

/**
 * The time before which no call about this extraction may be made, as an ISO time, if the provider asked for that. A 429 may be about one
 * user ("process already running"), and a 503 about one task. So each delays its own extraction by the whole time.
 */
export const notBeforeAfter429Or503 = (error: unknown, now: Date): string | undefined =>
  isoOf(retryAtOfStatus(error, [429, 503], now));

/** The same for a start call or a call for a token. A 503 is ignored, because it concerns all extractions, and the breaker waits for it. */
export const notBeforeAfter429 = (error: unknown, now: Date): string | undefined =>
  isoOf(retryAtOfStatus(error, [429], now));
