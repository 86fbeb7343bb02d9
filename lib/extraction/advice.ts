import { adviceOfCode } from './causes.ts';
import { type Advice, openStatuses } from './record.ts';

/** What the caller's code should do next. Each value has its meaning as a sentence. */
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

/** What the advice depends on. Any status is accepted, because later versions may add one. */
export type Advised = {
  readonly status: string;
  readonly reason?: string | undefined;
  readonly lastProblem?: string | undefined;
  readonly collectionError?: string | undefined;
  readonly collectedAt?: string | undefined;
  readonly actionResults?: readonly { readonly errorCode?: string }[] | undefined;
  /** Set once somebody has asked to erase it, so that no code requests it again. */
  readonly erasingAt?: string | undefined;
  /** Present while the record is open. */
  readonly dueShard?: number | undefined;
};

const passing = /^(REQUEST_BLOCK_ERROR|ENTITY_API_ERROR)$/;

/** The advice for an outcome. Undefined without an outcome, or if it depends on results that are not collected yet. */
export const adviceOf = (of: Advised): Advice | undefined => {
  const { status, reason = '', lastProblem = '', collectionError = '' } = of;
  const isClosed = of.dueShard === undefined && !(openStatuses as readonly string[]).includes(status);
  if (of.erasingAt !== undefined && isClosed) return 'none';
  if (status === 'REJECTED') return adviceOfCode(reason, status) ?? 'operator';
  if (status === 'NOT_STARTED') return adviceOfCode(lastProblem, status) ?? 'request-again';
  if (status === 'UNCONFIRMED') return adviceOfCode(reason, status) ?? 'ask-provider';
  if (status === 'TIMED_OUT') {
    if (of.dueShard !== undefined) return 'wait';
    return collectionError === 'InternalError' ? 'operator' : 'ask-provider';
  }
  if (status === 'CREDENTIALS_WRONG' || status === 'CREDENTIALS_LOCKED') return 'ask-user';
  if (status !== 'COMPLETED' && status !== 'PARTIAL' && status !== 'FAILED') return undefined;
  if (collectionError !== '') return adviceOfCode(collectionError, 'collectionError') ?? 'request-again';
  // Only an extraction by consent has a reason.
  if (status === 'FAILED' && of.reason !== undefined) return 'request-later';
  if (of.collectedAt === undefined) return undefined;
  if (status === 'COMPLETED') return lastProblem === 'results-incomplete' ? 'request-again' : 'none';
  const mayPass = of.actionResults?.some(({ errorCode = '' }) => passing.test(errorCode)) === true;
  return mayPass ? 'request-later' : 'request-again';
};

/**
 * `failed`: the service, the provider or the bank failed. It counts in the share that the alarms watch (docs/operations.md). `user`: the
 * user can fix it, such as a wrong password. `caller`: the caller's code can fix it, or somebody cancelled it.
 */
export type Judgement = 'well' | 'user' | 'caller' | 'failed';

/**
 * How an extraction ended. Only this function decides it: alarms, `health` and the console all use it. It follows from the advice at the
 * time when the outcome is recorded, which `COMPLETED` gets only with its results.
 *
 * @param outcome a status and its reason, as `outcomeText` returns it: `REJECTED http-500`
 */
export const judgeOutcome = (outcome: string): Judgement => {
  if (outcome === 'COMPLETED') return 'well';
  const [status = '', code] = outcome.split(' ');
  const advice = adviceOf({ status, reason: code, lastProblem: code });
  if (advice === 'ask-user' || advice === 'renew-consent') return 'user';
  return advice === 'fix-request' || advice === 'none' ? 'caller' : 'failed';
};

type Ended = { readonly status: string; readonly reason?: string; readonly lastProblem?: string };

/**
 * The status, followed by its cause if known. For `NOT_STARTED` that is `lastProblem`, because its `reason` is only that its time was over.
 */
export const outcomeText = ({ status, reason, lastProblem }: Ended): string => {
  const code = status === 'NOT_STARTED' ? (lastProblem ?? reason) : reason;
  return code === undefined ? status : `${status} ${code}`;
};
