import { type Advice, openStatuses } from './record.ts';

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
} as const satisfies Readonly<Record<Advice, string>>;

/** What the advice depends on. Any status is accepted, because later versions may add some. */
export type Advised = {
  readonly status: string;
  readonly reason?: string | undefined;
  readonly lastProblem?: string | undefined;
  readonly collectionError?: string | undefined;
  readonly collectedAt?: string | undefined;
  readonly actionResults?: readonly { readonly errorCode?: string }[] | undefined;
  /** Somebody asked to have it erased, so that nobody may request it again by itself. */
  readonly erasingAt?: string | undefined;
  /** Present while the record is open. */
  readonly dueShard?: number | undefined;
};

type Rule = readonly [code: RegExp, advice: Advice];

const notCollected: readonly Rule[] = [
  [/^results-too-large$/, 'fix-request'],
  [/^(results-not-stored|InternalError|request-data-gone)$/, 'operator'],
  [/^task-linked-elsewhere$/, 'operator'],
];
const rejected: readonly Rule[] = [
  [/^(user-restricted|credentials-refused-before)$/, 'ask-user'],
  [/^consent-/, 'renew-consent'],
  [/^(http-4(00|22)|invalid-request|session-token-refused)$/, 'fix-request'],
];
const notStarted: readonly Rule[] = [
  [
    /^(quota-reached|waited-too-long|(login-)?http-429(\/.*)?|unreachable|held\/.*|login-http-5.*)$/,
    'request-later',
  ],
  [/^(login-http-4.*|secret-not-filled|setting-missing)$/, 'operator'],
  [/^ciphertext-expired$/, 'fix-request'],
  // Somebody ended it on purpose. A caller that requests again by itself would undo that.
  [/^(cancelled|erased)$/, 'none'],
];
const passing = /^(REQUEST_BLOCK_ERROR|ENTITY_API_ERROR)$/;

const adviceBy = (code = '', rules: readonly Rule[], other: Advice): Advice =>
  rules.find(([form]) => form.test(code))?.[1] ?? other;

/** Undefined without an outcome, and where it depends on results that are not collected yet. */
export const adviceOf = (of: Advised): Advice | undefined => {
  const { status, reason, collectionError = '' } = of;
  const isClosed = of.dueShard === undefined && !(openStatuses as readonly string[]).includes(status);
  if (of.erasingAt !== undefined && isClosed) return 'none';
  if (status === 'REJECTED') return adviceBy(reason, rejected, 'operator');
  if (status === 'NOT_STARTED') return adviceBy(of.lastProblem, notStarted, 'request-again');
  if (status === 'UNCONFIRMED') return reason === 'task-linked-elsewhere' ? 'operator' : 'ask-provider';
  if (status === 'TIMED_OUT') {
    if (of.dueShard !== undefined) return 'wait';
    return collectionError === 'InternalError' ? 'operator' : 'ask-provider';
  }
  if (status === 'CREDENTIALS_WRONG' || status === 'CREDENTIALS_LOCKED') return 'ask-user';
  if (status !== 'COMPLETED' && status !== 'PARTIAL' && status !== 'FAILED') return undefined;
  if (collectionError !== '') return adviceBy(collectionError, notCollected, 'request-again');
  // Only an extraction by consent has a reason.
  if (status === 'FAILED' && reason !== undefined) return 'request-later';
  if (of.collectedAt === undefined) return undefined;
  if (status === 'COMPLETED') return of.lastProblem === 'results-incomplete' ? 'request-again' : 'none';
  const mayPass = of.actionResults?.some(({ errorCode = '' }) => passing.test(errorCode)) === true;
  return mayPass ? 'request-later' : 'request-again';
};

/**
 * `failed`: the service, the provider or the bank did, and it counts against the share that the alarms watch
 * (docs/operations.md). `user`: the user can mend it, such as a wrong password. `caller`: the caller's code can, or somebody cancelled it.
 */
export type Judgement = 'well' | 'user' | 'caller' | 'failed';

/**
 * How an extraction ended. This is the only place that decides it: alarms, `health` and the console ask here. It follows from the
 * advice that an outcome gives when it is recorded. That of `COMPLETED` comes with its results.
 *
 * @param outcome a status and why, as `outcomeText` returns it: `REJECTED http-500`
 */
export const judgeOutcome = (outcome: string): Judgement => {
  if (outcome === 'COMPLETED') return 'well';
  const [status = '', code] = outcome.split(' ');
  const advice = adviceOf({ status, reason: code, lastProblem: code });
  if (advice === 'ask-user' || advice === 'renew-consent') return 'user';
  return advice === 'fix-request' || advice === 'none' ? 'caller' : 'failed';
};

type Ended = { readonly status: string; readonly reason?: string; readonly lastProblem?: string };

/** The status, followed by why, if that is known. The reason of `NOT_STARTED` is only that its time was over. */
export const outcomeText = ({ status, reason, lastProblem }: Ended): string => {
  const code = status === 'NOT_STARTED' ? (lastProblem ?? reason) : reason;
  return code === undefined ? status : `${status} ${code}`;
};
