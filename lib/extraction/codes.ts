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

/**
 * The public codes of `reason`, `lastProblem` and `collectionError`, each with its meaning as a clause (docs/stream.md). `<status>` is
 * an HTTP status, and `<code>` another code of this list. Any other text is an `errorType[/errorCode]` of the provider or, in
 * `collectionError`, the class of the error of the last read.
 */
export const codes = {
  'http-<status>': 'the provider answered with this HTTP status, after a slash with this `errorType`',
  timeout: 'the provider did not answer in time',
  reset: 'the connection broke before the answer was complete',
  redirect: 'the provider answered with a redirect, which is not followed',
  'not-json': 'the answer was not JSON',
  'no-task-id': 'the answer had no task id',
  'unexpected-answer': 'the answer was JSON of another form than documented',
  'answer-too-large': 'the answer was larger than the limit',
  unreachable: 'no connection to the provider could be established',
  'user-restricted': 'the provider restricts this user after several failed logins',
  forbidden: 'the provider does not permit this action',
  'user-busy': 'another request for this user was running',
  'quota-reached': 'the monthly quota of the provider was reached',
  'session-token-refused': 'the session token that the caller sent is not valid',
  'credentials-refused-before':
    'the bank refused the same credentials within the last days, so nothing was sent',
  'invalid-request': 'the request could not be sent as it was',
  'ciphertext-expired': 'the encrypted credentials were older than 60 minutes',
  'consent-expired': 'the consent has expired',
  'consent-revoked': 'the user has revoked the consent',
  'consent-invalid-password': 'the password under the consent is no longer valid',
  'consent-in-progress': 'the user has not given the consent yet',
  'consent-unknown': 'the provider knows no such consent of this user',
  'consent-discarded': 'the user discarded the consent',
  'consent-one-shot-already-used': 'the consent was for one extraction and has been used',
  'start-interrupted': 'start-task ended between the `STARTING` write and the answer',
  'start-call-unanswered': 'written by earlier versions: the start call got no usable answer',
  'start-abandoned': 'the machine abandoned the start, or was stopped',
  'start-window-over': '`startWindowSeconds` passed',
  restored: 'restored from a backup in which the start was not confirmed',
  'login-<code>': 'the provider gave no token, for this cause',
  'held/<code>':
    'the start was held, because the last ones failed with this cause, or were `slow`; `paused`: by an operator',
  'waited-too-long': 'it was in line for `maxWaitSeconds`',
  cancelled: 'an operator cancelled it before its start',
  erased: 'somebody asked to have it erased',
  'secret-not-filled': 'the secret with the API key has no value yet',
  'setting-missing': 'a setting that consents need is not set',
  'deadline-passed': 'no final status by `deadlineAt`',
  'still-running': 'the provider reported that the task runs',
  'never-read': 'no read of the task was made',
  'no-results': 'the outcome implies results, but reads returned none',
  'results-incomplete':
    'an action of the request, or all data of a consent, is missing from the results; after `resultsLagSeconds` they are stored as they are',
  'results-too-large': 'the results exceed `resultsMaxBytes`',
  'results-not-stored': 'the bucket did not accept the results',
  'request-data-gone': 'the sealed data of the request were lost',
  'task-linked-elsewhere': 'the task belongs to another extraction, so nothing of it is used',
  InternalError: 'Cosecha itself failed, for example at a secret or in a read that ended its process',
} as const;

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
 * A failed call as one of the public `codes`. It is made from classes, statuses and what has the form of a code, never from a
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
