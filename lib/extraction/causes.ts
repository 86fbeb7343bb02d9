import type { Advice } from './record.ts';

/** The outcomes, and the attribute, for which a code decides the advice. */
type DecidedBy = 'REJECTED' | 'NOT_STARTED' | 'UNCONFIRMED' | 'collectionError';

type AdviceOfCode = Advice | ((code: string) => Advice | undefined);

/** The meaning is a clause for operators. A cause without an advice gets the default of its outcome (advice.ts). */
type Cause = readonly [meaning: string, advice?: Partial<Readonly<Record<DecidedBy, AdviceOfCode>>>];

type Causes = Readonly<Record<string, Cause>>;

const operatorStarts = { NOT_STARTED: 'operator' } as const;
const later = { NOT_STARTED: 'request-later' } as const;
const fixRequest = { REJECTED: 'fix-request' } as const;
const renewConsent = { REJECTED: 'renew-consent' } as const;
const operatorCollects = { collectionError: 'operator' } as const;

const adviceOfLogin = (code: string): Advice | undefined => {
  if (/^login-http-(429(\/|$)|5)/.test(code)) return 'request-later';
  return code.startsWith('login-http-4') ? 'operator' : undefined;
};

// Public codes: `reason`, `lastProblem` and `collectionError` of a record (docs/stream.md). `<status>` is an HTTP status, and `<code>`
// another code. Any other text there is an `errorType[/errorCode]` of the provider or, in `collectionError`, the name of an error.

/** What a call of the provider showed. start-task and reconcile write these. */
const codesOfCalls = {
  'http-<status>': [
    'the provider answered with this HTTP status, after a slash with this `errorType`',
    {
      REJECTED: (code) => (/^http-4(00|22)$/.test(code) ? 'fix-request' : undefined),
      NOT_STARTED: (code) => (/^http-429(\/|$)/.test(code) ? 'request-later' : undefined),
    },
  ],
  timeout: ['the provider did not answer in time'],
  reset: ['the connection broke before the answer was complete'],
  redirect: ['the provider answered with a redirect, which is not followed'],
  'not-json': ['the answer was not JSON'],
  'no-task-id': ['the answer had no task id'],
  'unexpected-answer': ['the answer was JSON of another form than documented'],
  'answer-too-large': ['the answer was larger than the limit'],
  unreachable: ['no connection to the provider could be established', later],
  'user-restricted': [
    'the provider restricts this user after several failed logins',
    { REJECTED: 'ask-user' },
  ],
  forbidden: ['the provider does not permit this action'],
  'user-busy': ['another request for this user was running'],
  'quota-reached': ['the monthly quota of the provider was reached', later],
  'login-<code>': ['the provider gave no token, for this cause', { NOT_STARTED: adviceOfLogin }],
  'invalid-request': ['the request could not be sent as it was', fixRequest],
  'secret-not-filled': ['the secret with the API key has no value yet', operatorStarts],
  'setting-missing': ['a setting that consents need is not set', operatorStarts],
  InternalError: [
    'Cosecha itself failed, for example at a secret or in a read that ended its process',
    operatorCollects,
  ],
} as const satisfies Causes;

/** Why nothing was started, or why that is unknown. start-task writes these, and reconcile when no start can follow. */
const codesOfStarts = {
  'session-token-refused': ['the session token that the caller sent is not valid', fixRequest],
  'credentials-refused-before': [
    'the bank refused the same credentials within the last days, so nothing was sent',
    { REJECTED: 'ask-user' },
  ],
  'ciphertext-expired': [
    'the encrypted credentials were older than 60 minutes',
    { NOT_STARTED: 'fix-request' },
  ],
  'consent-expired': ['the consent has expired', renewConsent],
  'consent-revoked': ['the user has revoked the consent', renewConsent],
  'consent-invalid-password': ['the password under the consent is no longer valid', renewConsent],
  'consent-in-progress': ['the user has not given the consent yet', renewConsent],
  'consent-unknown': ['the provider knows no such consent of this user', renewConsent],
  'consent-discarded': ['the user discarded the consent', renewConsent],
  'consent-one-shot-already-used': ['the consent was for one extraction and has been used', renewConsent],
  'held/<code>': [
    'the start was held, because the last ones failed with this cause, or were `slow`; `paused`: by an operator',
    later,
  ],
  'waited-too-long': ['it was in line for `maxWaitSeconds`', later],
  'start-interrupted': ['start-task ended between the `STARTING` write and the answer'],
  'start-abandoned': ['the machine abandoned the start, or was stopped'],
  'start-window-over': ['`startWindowSeconds` passed'],
} as const satisfies Causes;

/** What an operator or an erasure has done. Code that requests such an extraction again would undo it. */
const codesOfOperators = {
  restored: ['restored from a backup in which the start was not confirmed'],
  cancelled: ['an operator cancelled it before its start', { NOT_STARTED: 'none' }],
  erased: ['somebody asked to have it erased', { NOT_STARTED: 'none' }],
} as const satisfies Causes;

/** What happened to a task and its results. Reconcile writes these, and start-task also the last two. */
const codesOfTasks = {
  'deadline-passed': ['no final status by `deadlineAt`'],
  'still-running': ['the provider reported that the task runs'],
  'never-read': ['no read of the task was made'],
  'no-results': ['the outcome implies results, but reads returned none'],
  'results-incomplete': [
    'an action of the request, or all data of a consent, is missing from the results; after `resultsLagSeconds` they are stored as they are',
  ],
  'results-too-large': ['the results exceed `resultsMaxBytes`', { collectionError: 'fix-request' }],
  'results-not-stored': ['the bucket did not accept the results', operatorCollects],
  'request-data-gone': ['the sealed data of the request were lost', operatorCollects],
  'task-linked-elsewhere': [
    'the task belongs to another extraction, so nothing of it is used',
    { UNCONFIRMED: 'operator', ...operatorCollects },
  ],
} as const satisfies Causes;

const codes = { ...codesOfCalls, ...codesOfStarts, ...codesOfOperators, ...codesOfTasks };

/** A public code, or the form of codes with a variable part. */
export type PublicCode = keyof typeof codes;

export const isPublicCode = (text: string): text is PublicCode => Object.hasOwn(codes, text);

export const publicCodes = Object.keys(codes) as readonly PublicCode[];

// Names of errors. Execution histories contain the names of start errors, so a name must outlive a deployment. `collectionError` contains
// names of read errors.

/** Errors by which start-task fails its state. The machine retries all but the first three (design, section 5). */
const errorsOfStarts = {
  CiphertextExpired: ['the caller had encrypted the credentials more than 60 minutes before'],
  StartWindowOver: ['the start window was over, or it had waited for too long'],
  Waits: ["it waits in line, for the provider's rate or for who holds starts"],
  ProviderBusy: ['the provider was busy (429)'],
  ProviderUnreachable: ['the provider could not be reached'],
  ProviderUnauthorized: ['the provider gave no token'],
  RequestDataGone: ['the sealed data of its request are gone'],
  TooLittleTime: ['too little time of the invocation was left for the start call'],
  StartInProgress: ['an earlier start was still in progress'],
  StartFailed: ['start-task failed, and its log has the cause'],
} as const satisfies Causes;

export type StartError = keyof typeof errorsOfStarts;

/**
 * Errors of a read (lib/provider/transport/errors.ts). A read can also fail with `ProviderBusy`, `ProviderUnreachable` and
 * `ProviderUnauthorized`.
 */
const errorsOfReads = {
  ProviderRefused: ['the provider refused the call (4xx)'],
  ProviderExtractionFailed: ['the provider answered with an error of its own'],
  ProviderAnswerTooLarge: ['the answer was over the size limit'],
  ProviderAmbiguous: ['the provider gave no answer that could be used'],
  ProviderError: ['the call of the provider failed'],
  InvalidProviderRequest: ['the request could not be sent'],
} as const satisfies Causes;

const errors = { ...errorsOfStarts, ...errorsOfReads };

export type ErrorName = keyof typeof errors;

export const isErrorName = (name: string): name is ErrorName => Object.hasOwn(errors, name);

/** Why an extraction has not ended yet. Only log lines have these. */
const unfinished = {
  'not-started-yet': ['the start window is not over, and the execution may still start it'],
  'start-in-progress': ['another process may be making the start call'],
  'reads-paused': ['no read was made, as an operator had paused reads'],
  'not-before': ['no read was made, as the provider had asked to wait'],
  'unknown-record': ['a newer version wrote the record, and this one does not know its status or schema'],
  early: ['the clock of the sender is ahead, so that the message came before its time'],
  contended: ['other processes changed the record again and again, or a defect repeated the same step'],
  'start-claimed': ['its start had been claimed, so that it could not be cancelled any more'],
} as const satisfies Causes;

const causes = { ...codes, ...errors, ...unfinished };

/** What a cause means, as a clause. */
export const meaningOf = (cause: keyof typeof causes): string => causes[cause][0];

/** Why a step ended, or what it waits for: the `explanation` of plans and log lines. */
export type Explanation = keyof typeof codesOfTasks | 'InternalError' | ErrorName | keyof typeof unfinished;

/** The row of a code with a variable part, such as `held/<code>` for `held/timeout`. */
const rowOf = (code: string): Cause | undefined => {
  if (/^http-\d{3}(\/|$)/.test(code)) return codes['http-<status>'];
  if (/^login-./.test(code)) return codes['login-<code>'];
  if (/^held\/./.test(code)) return codes['held/<code>'];
  return isPublicCode(code) ? codes[code] : undefined;
};

/** The advice that a code alone decides. */
export const adviceOfCode = (code: string, by: DecidedBy): Advice | undefined => {
  const advice = rowOf(code)?.[1]?.[by];
  return typeof advice === 'function' ? advice(code) : advice;
};
