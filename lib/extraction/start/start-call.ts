import type { Shown } from '../../breaker/circuit-breaker.ts';
import { ciphertextSeconds } from '../../ciphertext-seconds.ts';
import { defined } from '../../defined.ts';
import { NotConfigured } from '../../not-configured.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { requestTimeout, tooManyRequests } from '../../provider/assumptions.ts';
import type { Consent } from '../../provider/consents/get-consent.ts';
import type { StartExtractionRequest } from '../../provider/extractions/start-extraction.ts';
import type { TaskRequest } from '../../provider/tasks/start-task.ts';
import type { Tokens } from '../../provider/tokens/session-tokens.ts';
import { type TaskTokens, tokensOf } from '../../provider/tokens/task-tokens.ts';
import {
  InvalidProviderRequest,
  ProviderAmbiguous,
  ProviderBusy,
  ProviderError,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
  retryAtOfStatus,
} from '../../provider/transport/errors.ts';
import { TransportFailure } from '../../provider/transport/transport-failure.ts';
import type { StartError } from '../causes.ts';
import {
  consentProblemOf,
  failureReason,
  isAboutRate,
  loginProblemOf,
  notBeforeAfter429,
  problemOf,
} from '../codes.ts';
import { plusSeconds } from '../deadlines.ts';
import type { NotAccepted, StartCallResult } from '../plan.ts';
import {
  type ConsentExtraction,
  type ConsentVariant,
  type CredentialsExtraction,
  type Extraction,
  hasWebhook,
} from '../record.ts';
import { type KnownCredentials, knownCredentials } from '../refused-credentials.ts';
import type { SealedCredentialsData, SealedTargetData } from '../sealed-request-data.ts';
import type { StoredRequest } from '../store.ts';

/** A prepared start call. It contains every difference between the two methods. */
export type StartCall = KnownCredentials & {
  /** `current`: the cached token, or a new one. Throws ProviderErrors and NotConfigured. `drop`: forgets one that was refused. */
  readonly tokens: Tokens;
  /** False for a token that the caller supplied, because the service cannot replace it. */
  readonly renewable: boolean;
  /** From this time on, the provider certainly refuses its credentials. */
  readonly expiresAt?: string;
  /**
   * Makes the call and returns the taskId. A second call is made only after a 401, with another token. If the start is refused, it calls
   * back before the text of the refusal is read. Throws only ProviderErrors: Unauthorized for 401, Busy for 429, Refused for another 4xx,
   * Unreachable if it never connected, Ambiguous for 408, 3xx, 5xx, no answer or no taskId, ExtractionFailed if v2 gives an `errorType`, and
   * InvalidProviderRequest before anything is sent.
   */
  readonly post: (token: string, whenRefused: () => void) => Promise<string>;
  /** Reads the consent under the same token, because its state may be the reason of a refusal. Undefined if it is not. */
  readonly readConsentProblem?: (token: string) => Promise<string | undefined>;
};

type Options = { readonly whenRefused: () => void };

/** The most deliveries that the provider's API document allows ("Events", rule 2). */
const webhookRetries = 5;

const only = (token: string): Tokens => ({ current: async () => token, drop: () => undefined });

type CredentialsProvider = {
  readonly sessions: Tokens;
  readonly startTask: (sessionToken: string, request: TaskRequest, options: Options) => Promise<string>;
};

/** "Start task (v2)" with the recorded actions and the unsealed credentials, under a session token. */
export const callByCredentials = (
  record: CredentialsExtraction,
  { credentials, sessionToken }: SealedCredentialsData,
  deps: CredentialsProvider,
): StartCall => ({
  tokens: sessionToken === undefined ? deps.sessions : only(sessionToken),
  renewable: sessionToken === undefined,
  ...(credentials.mode === 'encrypted'
    ? { expiresAt: plusSeconds(record.requestedAt, ciphertextSeconds) }
    : {}),
  post: (token, whenRefused) => {
    const webhook = hasWebhook(record) ? { webhook: { enable: true, retries: webhookRetries } } : {};
    const { entity, actions } = record;
    return deps.startTask(token, { entity, credentials, actions, ...webhook }, { whenRefused });
  },
});

type ConsentProvider = {
  readonly taskTokens: TaskTokens;
  readonly startExtraction: {
    readonly [Variant in ConsentVariant]: (
      taskToken: string,
      request: StartExtractionRequest,
      options: Options,
    ) => Promise<string>;
  };
  /** Makes one call, of at most `consentReadMsOf`. */
  readonly getConsent: (taskToken: string, consentId: string) => Promise<Consent>;
};

/** "Start extraction" in the recorded variant, under a Task Token for the unsealed target. */
export const callByConsent = (
  { product, consentId, variant }: ConsentExtraction,
  { target }: SealedTargetData,
  deps: ConsentProvider,
): StartCall => ({
  tokens: tokensOf(deps.taskTokens, target),
  renewable: true,
  post: (token, whenRefused) => deps.startExtraction[variant](token, { product, consentId }, { whenRefused }),
  readConsentProblem: async (token) => {
    try {
      return consentProblemOf(await deps.getConsent(token, consentId));
    } catch (error) {
      if (error instanceof ProviderRefused && error.status === 404) return 'consent-unknown';
      throw error;
    }
  },
});

type StartSources = Parameters<typeof knownCredentials>[2] & {
  readonly unsealCredentials: (record: Extraction, stored: StoredRequest) => Promise<SealedCredentialsData>;
  readonly unsealTarget: (record: Extraction, stored: StoredRequest) => Promise<SealedTargetData>;
  readonly provider: CredentialsProvider & ConsentProvider;
};

/** Unseals the request data and prepares the start call of the record's method. Sends nothing to the provider. */
export const startCallFrom =
  ({ unsealCredentials, unsealTarget, provider, key, keptDays }: StartSources) =>
  async (record: Extraction, stored: StoredRequest): Promise<StartCall> => {
    if (record.method === 'consent')
      return callByConsent(record, await unsealTarget(record, stored), provider);
    const unsealed = await unsealCredentials(record, stored);
    const known = await knownCredentials(record, unsealed, { key, keptDays });
    return { ...callByCredentials(record, unsealed, provider), ...known };
  };

/**
 * Makes one call to the provider, for a token or the start call. If it takes too long, the start is reported as slow while the call is under
 * way. `whenAnswered` ends its time before the text of the answer is read.
 */
export type Watch = <T>(
  kind: 'token' | 'start',
  call: (whenAnswered: () => void) => Promise<T>,
) => Promise<T>;

type CallDeps = { readonly now: () => Date; readonly telemetry: Telemetry; readonly watch: Watch };

/** Node refuses such a header before it connects. So the error shows nothing about the provider. */
const invalidHeader = 'ERR_INVALID_CHAR';

/**
 * Whether an error means that the provider is in trouble: a failed connect, a timeout, a reset or a 5xx. A 4xx or an unreadable answer does
 * not, because it may concern only one user or task.
 */
const isTrouble = (error: unknown): boolean => {
  if (error instanceof ProviderUnreachable) {
    return !(error.cause instanceof TransportFailure && error.cause.code === invalidHeader);
  }
  if (error instanceof ProviderExtractionFailed) return error.status >= 500;
  if (!(error instanceof ProviderAmbiguous)) return false;
  return error.cause instanceof TransportFailure || (error.status ?? 0) >= 500;
};

/** The public code of such an error. It never contains a text of the provider. */
const causeOf = (error: unknown): string | undefined => {
  const { status, reason } = error as { readonly status?: number; readonly reason?: string };
  if (status !== undefined) return `http-${status}`;
  return error instanceof ProviderUnreachable ? 'unreachable' : reason;
};

/** What the error of a login, a Task Token or a start showed. Only a 503 asks to wait for the whole provider (RFC 9110, section 15.6.4). */
export const shownBy = (error: unknown, now: Date): Shown => {
  if (!isTrouble(error)) return { kind: 'nothing' };
  const retryAt = retryAtOfStatus(error, [503], now);
  return { kind: 'failed', ...defined({ cause: causeOf(error), retryAt }) };
};

/** The result of a failed login or Task Token. Creating a token starts nothing, so an unanswered call is safe to retry, too. */
const tokenNotObtained = (
  error: unknown,
  now: Date,
  telemetry: Telemetry,
): { readonly result: NotAccepted; readonly shown: Shown } => {
  telemetry.failure('No provider token could be obtained.', error);
  const name =
    error instanceof ProviderBusy || error instanceof ProviderUnreachable
      ? error.name
      : 'ProviderUnauthorized';
  const result = notAccepted(name, { cause: error, problem: loginProblemOf(error), now });
  return { result, shown: shownBy(error, now) };
};

/**
 * The token of the start call, or why there is none, and what that shows. A start in a breaker's turn logs in again (`logIn`), even with a
 * cached token. A login is harmless, so it tests the provider before the call that cannot be repeated. Throws an error that is neither a
 * ProviderError nor NotConfigured.
 */
export const obtainToken = async (
  call: StartCall,
  { now, telemetry, watch, logIn }: CallDeps & { readonly logIn: (() => Promise<unknown>) | undefined },
): Promise<
  | { readonly kind: 'obtained'; readonly token: string }
  | { readonly kind: 'failed'; readonly result: NotAccepted; readonly shown: Shown }
> => {
  if (call.expiresAt !== undefined && now().toISOString() >= call.expiresAt) {
    const problem = 'ciphertext-expired';
    const result = notAccepted('CiphertextExpired', { cause: undefined, problem, now: now() });
    return { kind: 'failed', result, shown: { kind: 'nothing' } };
  }
  try {
    if (logIn !== undefined) await watch('token', logIn);
    return { kind: 'obtained', token: await watch('token', () => call.tokens.current()) };
  } catch (error) {
    if (!(error instanceof ProviderError || error instanceof NotConfigured)) throw error;
    return { kind: 'failed', ...tokenNotObtained(error, now(), telemetry) };
  }
};

/**
 * The limit of the call that reads a consent, in milliseconds. It is short, because the outcome waits for the call. The shortest
 * `startTimeoutSeconds` leaves time for it (infra/settings/config.ts).
 *
 * @param maxCallMs the limit of one call to the provider
 */
export const consentReadMsOf = (maxCallMs: number): number => Math.min(maxCallMs, 3_000);

/**
 * If the provider refuses a start under a consent that is not active or unknown, the consent is the reason. The values of an `errorType`
 * are unknown, so the consent is read in that case too. If it cannot be read in time, the answer stays the reason.
 */
const withConsentProblem = async (
  called: Called,
  { readConsentProblem }: StartCall,
  token: string,
  { msLeft, maxCallMs, telemetry }: Pick<CallDeps, 'telemetry'> & TimeLeft,
): Promise<Called> => {
  const { result } = called;
  const isAnswered = result.kind === 'refused' && result.reason !== 'invalid-request';
  if (!isAnswered || readConsentProblem === undefined) return called;
  if (!hasTimeFor(1, { msLeft, maxCallMs: consentReadMsOf(maxCallMs) })) return called;
  try {
    const reason = (await readConsentProblem(token)) ?? result.reason;
    return { ...called, result: { kind: 'refused', reason } };
  } catch (error) {
    telemetry.failure('The consent of a refused start could not be read.', error);
    return called;
  }
};

/** In milliseconds, for the writes of the record around a start call. Each takes some 20 ms. */
const writesMs = 1_000;

type TimeLeft = {
  /** How long this invocation may still run, in milliseconds. */
  readonly msLeft: () => number;
  /** The limit of one call to the provider, in milliseconds. */
  readonly maxCallMs: number;
};

/**
 * Whether enough time is left for this many calls to the provider. If the process ended during a start call, the extraction would be
 * `UNCONFIRMED`. By default start-task has 90 s. Its own work takes 1.5 s and a login at most 20 s. That leaves 68 s for a call of 20 s,
 * and for a login and a call after a 401. The first call needs 21 s. Less is left only if AWS calls are slow, with up to 25 s each. The
 * machine then tries again.
 */
export const hasTimeFor = (calls: number, { msLeft, maxCallMs }: TimeLeft): boolean =>
  msLeft() >= calls * maxCallMs + writesMs;

/** `isOfToken`: after a 401, the new token failed, and `shown` is what that showed. */
export type Called = { readonly result: StartCallResult; readonly shown: Shown; readonly isOfToken?: true };

/** Makes the start call. Repeats it at most once, and only after a 401, which means that it was not accepted. */
export const makeStartCall = async (
  token: string,
  call: StartCall,
  deps: CallDeps & TimeLeft,
): Promise<Called> => {
  const { telemetry, now, watch } = deps;
  const postOnce = async (withToken: string): Promise<Called | 'unauthorized'> => {
    try {
      const taskId = await watch('start', (whenAnswered) => call.post(withToken, whenAnswered));
      return { result: { kind: 'accepted', taskId }, shown: { kind: 'accepted' } };
    } catch (error) {
      telemetry.failure('The start call failed.', error);
      const result = resultOfError(error, now());
      return result === 'unauthorized' ? result : { result, shown: shownBy(error, now()) };
    }
  };

  const notCalled = (error: StartError, problem: string): Called => ({
    result: notAccepted(error, { cause: undefined, problem, now: now() }),
    shown: { kind: 'nothing' },
  });

  const post = async (withToken: string): Promise<Called | 'unauthorized'> => {
    // The claim, or the login after a 401, may have used up the time.
    if (!hasTimeFor(1, deps)) return notCalled('TooLittleTime', 'InternalError');
    const called = await postOnce(withToken);
    return called === 'unauthorized' ? called : withConsentProblem(called, call, withToken, deps);
  };

  const first = await post(token);
  if (first !== 'unauthorized') return first;
  if (!call.renewable) {
    return { result: { kind: 'refused', reason: 'session-token-refused' }, shown: { kind: 'nothing' } };
  }

  call.tokens.drop(token);
  if (!hasTimeFor(2, deps)) return notCalled('ProviderUnauthorized', 'http-401');
  let renewed: string;
  try {
    renewed = await watch('token', () => call.tokens.current());
  } catch (error) {
    // The status is STARTING, so an exception here would end as UNCONFIRMED, although the 401 means that nothing was accepted.
    return { ...tokenNotObtained(error, now(), telemetry), isOfToken: true };
  }
  const second = await post(renewed);
  if (second !== 'unauthorized') return second;
  call.tokens.drop(renewed);
  return notCalled('ProviderUnauthorized', 'http-401');
};

/** `cause` is the error of the answer, which may contain a `Retry-After`. */
const notAccepted = (
  error: StartError,
  { cause, problem, now }: { readonly cause: unknown; readonly problem: string; readonly now: Date },
): NotAccepted => ({
  kind: 'not-accepted',
  error,
  problem,
  notBefore: notBeforeAfter429(cause, now),
});

/** The result of a 429. */
const busy = (error: ProviderBusy | ProviderExtractionFailed, now: Date): StartCallResult => {
  const refused = notAccepted('ProviderBusy', { cause: error, problem: problemOf(error), now });
  if (!isAboutRate(error)) return refused;
  const { problem, notBefore } = refused;
  return { kind: 'over-the-rate', problem, notBefore };
};

/** The result of an answer with an `errorType`. Only the v2 variant of an extraction by consent has such answers. */
const resultOfFailure = (failure: ProviderExtractionFailed, now: Date): StartCallResult => {
  if (failure.status === tooManyRequests) return busy(failure, now);
  if (failure.status < 500 && failure.status !== requestTimeout) {
    return { kind: 'refused', reason: failureReason(failure) };
  }
  return { kind: 'unknown', reason: failureReason(failure) };
};

/** The result of a start call that threw. A 401 is returned as such, because another token may help. */
const resultOfError = (error: unknown, now: Date): StartCallResult | 'unauthorized' => {
  if (error instanceof ProviderUnauthorized) return 'unauthorized';
  if (error instanceof ProviderBusy) return busy(error, now);
  if (error instanceof ProviderExtractionFailed) return resultOfFailure(error, now);
  const problem = problemOf(error);
  if (error instanceof ProviderRefused || error instanceof InvalidProviderRequest) {
    return { kind: 'refused', reason: problem };
  }
  if (error instanceof ProviderUnreachable)
    return notAccepted('ProviderUnreachable', { cause: error, problem, now });
  // After a 5xx, a 408, a timeout, a reset, or an answer without a task id, a task may exist.
  return { kind: 'unknown', reason: problem === 'unexpected-answer' ? 'no-task-id' : problem };
};
