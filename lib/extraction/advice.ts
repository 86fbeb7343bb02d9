/**
 * The public codes of `reason`, `lastProblem` and `collectionError`, each with its meaning as a clause (docs/stream.md). `<status>` is
 * an HTTP status, and `<code>` another code of this list. Any other text is an `errorType[/errorCode]` of the provider.
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
  'secret-not-filled': 'the secret with the API key has no value yet',
  'setting-missing': 'a setting that consents need is not set',
  'deadline-passed': 'no final status by `deadlineAt`',
  'still-running': 'the provider reported that the task runs',
  'never-read': 'no read of the task was made',
  'no-results': 'the outcome implies results, but reads returned none',
  'results-too-large': 'the results exceed `resultsMaxBytes`',
  'results-not-stored': 'the bucket did not accept the results',
  'read-ends-process': 'three reads in a row ended their process',
  'request-data-gone': 'the sealed data of the request were lost',
  'task-linked-elsewhere': 'the task belongs to another extraction, so nothing of it is used',
  InternalError: 'Cosecha itself failed, for example at a secret',
} as const;

/** What the caller's code should do next, each with its meaning as a sentence. */
export const advices = {
  none: 'Nothing is left to do.',
  wait: 'An outcome may still follow.',
  'ask-user': 'The user corrects or unlocks the credentials. Then request it again, with a new key.',
  'renew-consent': 'The user gives a new consent. Then request it again under that one.',
  'fix-request': 'Change the request. As it is, it cannot succeed.',
  'request-again': 'Request it again, with a new key.',
  'request-later': 'Request it again with a new key, but not within an hour.',
  'ask-provider': 'Ask the provider whether the task runs before you request it again.',
  operator: 'The operator of Cosecha has to act. Requesting it again would not help.',
} as const;

export type Advice = keyof typeof advices;

/** What the advice depends on. Any status is accepted, because later versions may add some. */
export type Advised = {
  readonly status: string;
  readonly reason?: string | undefined;
  readonly lastProblem?: string | undefined;
  readonly collectionError?: string | undefined;
  readonly collectedAt?: string | undefined;
  readonly actionResults?: readonly { readonly errorCode?: string }[] | undefined;
  /** Present while the record is open. */
  readonly dueShard?: number | undefined;
};

type Rule = readonly [code: RegExp, advice: Advice];

const notCollected: readonly Rule[] = [
  [/^results-too-large$/, 'fix-request'],
  [/^(results-not-stored|InternalError|read-ends-process|request-data-gone)$/, 'operator'],
  [/^task-linked-elsewhere$/, 'operator'],
];
const rejected: readonly Rule[] = [
  [/^(user-restricted|credentials-refused-before)$/, 'ask-user'],
  [/^consent-/, 'renew-consent'],
  [/^(http-4(00|22)|invalid-request|session-token-refused)$/, 'fix-request'],
];
const notStarted: readonly Rule[] = [
  [/^(quota-reached|(login-)?http-429(\/.*)?|unreachable|held\/.*|login-http-5.*)$/, 'request-later'],
  [/^(login-http-4.*|secret-not-filled|setting-missing)$/, 'operator'],
  [/^ciphertext-expired$/, 'fix-request'],
];
const passing = /^(REQUEST_BLOCK_ERROR|ENTITY_API_ERROR)$/;

const adviceBy = (code = '', rules: readonly Rule[], other: Advice): Advice =>
  rules.find(([form]) => form.test(code))?.[1] ?? other;

/** Undefined without an outcome, and where it depends on results that are not collected yet. */
export const adviceOf = (of: Advised): Advice | undefined => {
  const { status, reason, collectionError = '' } = of;
  if (status === 'REJECTED') return adviceBy(reason, rejected, 'operator');
  if (status === 'NOT_STARTED') return adviceBy(of.lastProblem, notStarted, 'request-again');
  if (status === 'UNCONFIRMED') return reason === 'task-linked-elsewhere' ? 'operator' : 'ask-provider';
  if (status === 'TIMED_OUT') {
    if (of.dueShard !== undefined) return 'wait';
    return /^(read-ends-process|InternalError)$/.test(collectionError) ? 'operator' : 'ask-provider';
  }
  if (status === 'CREDENTIALS_WRONG' || status === 'CREDENTIALS_LOCKED') return 'ask-user';
  if (status !== 'COMPLETED' && status !== 'PARTIAL' && status !== 'FAILED') return undefined;
  if (collectionError !== '') return adviceBy(collectionError, notCollected, 'request-again');
  // Only an extraction by consent has a reason.
  if (status === 'FAILED' && reason !== undefined) return 'request-later';
  if (of.collectedAt === undefined) return undefined;
  if (status === 'COMPLETED') return 'none';
  const mayPass = of.actionResults?.some(({ errorCode = '' }) => passing.test(errorCode)) === true;
  return mayPass ? 'request-later' : 'request-again';
};
