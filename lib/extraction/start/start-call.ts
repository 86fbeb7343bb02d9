import { type Seen, seenIn } from '../../breaker/provider-trouble.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import type { Consent } from '../../provider/consents/consent.ts';
import type { StartExtractionRequest } from '../../provider/extractions/start-extraction.ts';
import type { TaskRequest } from '../../provider/tasks/task-request.ts';
import { type TaskTokens, tokensOf } from '../../provider/tokens/task-tokens.ts';
import type { Tokens } from '../../provider/tokens/tokens.ts';
import { plusSeconds } from '../deadlines.ts';
import { consentProblemOf, loginProblemOf } from '../provider-codes.ts';
import {
  type ConsentExtraction,
  type ConsentVariant,
  type CredentialsExtraction,
  hasWebhook,
} from '../record.ts';
import type { KnownCredentials } from '../refusals.ts';
import type { SealedCredentialsData, SealedTargetData } from '../sealed-request-data.ts';
import {
  type NotAccepted,
  notAccepted,
  resultOfError,
  type StartCallResult,
  tokenFailure,
} from './start-answer.ts';

/** The start call of one extraction, ready to be made. It contains everything in which the two methods differ. */
export type StartCall = KnownCredentials & {
  readonly tokens: Tokens;
  /** False for a token that the caller supplied, because the service cannot replace it. */
  readonly renewable: boolean;
  /** From then on, the provider surely accepts its credentials no more. */
  readonly expiresAt?: string;
  /**
   * Makes the call and returns the taskId. It is called a second time only after a 401, with another token. Calls back once a
   * refusal has come, before its text is read.
   */
  readonly post: (token: string, whenRefused: () => void) => Promise<string>;
  /** What else may be the reason of a refusal: reads the consent under the same token. Undefined if its state is none. */
  readonly readConsentProblem?: (token: string) => Promise<string | undefined>;
};

type Options = { readonly whenRefused: () => void };

/**
 * In seconds: "temporary encryption keyed by the session token, valid at most 60 minutes". A caller has encrypted before its
 * request.
 */
const ciphertextValidity = 3_600;

/** The most deliveries that the provider's API document allows ("Events", rule 2). */
const webhookRetries = 5;

const only = (token: string): Tokens => ({ current: async () => token, drop: () => undefined });

/** "Start task (v2)" with the recorded actions and the unsealed credentials, under a session token. */
export const callByCredentials = (
  record: CredentialsExtraction,
  { credentials, sessionToken }: SealedCredentialsData,
  deps: {
    readonly sessions: Tokens;
    readonly startTask: (sessionToken: string, request: TaskRequest, options: Options) => Promise<string>;
  },
): StartCall => ({
  tokens: sessionToken === undefined ? deps.sessions : only(sessionToken),
  renewable: sessionToken === undefined,
  ...(credentials.mode === 'encrypted'
    ? { expiresAt: plusSeconds(record.requestedAt, ciphertextValidity) }
    : {}),
  post: (token, whenRefused) => {
    const webhook = hasWebhook(record) ? { webhook: { enable: true, retries: webhookRetries } } : {};
    const { entity, actions } = record;
    return deps.startTask(token, { entity, credentials, actions, ...webhook }, { whenRefused });
  },
});

/** "Start extraction" in the recorded variant, under a Task Token for the unsealed target. */
export const callByConsent = (
  { product, consentId, variant }: ConsentExtraction,
  { target }: SealedTargetData,
  deps: {
    readonly taskTokens: TaskTokens;
    readonly startExtraction: {
      readonly [Variant in ConsentVariant]: (
        taskToken: string,
        request: StartExtractionRequest,
        options: Options,
      ) => Promise<string>;
    };
    /** Makes one call, of at most `consentReadMs`. */
    readonly getConsent: (taskToken: string, consentId: string) => Promise<Consent>;
  },
): StartCall => ({
  tokens: tokensOf(deps.taskTokens, target),
  renewable: true,
  post: (token, whenRefused) => deps.startExtraction[variant](token, { product, consentId }, { whenRefused }),
  readConsentProblem: async (token) => consentProblemOf(await deps.getConsent(token, consentId)),
});

type CallDeps = { readonly now: () => Date; readonly telemetry: Telemetry };

const tokenNotObtained = 'No provider token could be obtained.';

/**
 * The token of the start call, or why there is none and what that showed. `logIn` goes before, for a start that may close a
 * breaker, as a login changes nothing. Throws an error that is neither a ProviderError nor NotConfigured.
 */
export const obtainToken = async (
  call: StartCall,
  { now, telemetry, logIn }: CallDeps & { readonly logIn: (() => Promise<unknown>) | undefined },
): Promise<
  | { readonly kind: 'obtained'; readonly token: string }
  | { readonly kind: 'failed'; readonly result: NotAccepted; readonly seen: Seen }
> => {
  if (call.expiresAt !== undefined && now().toISOString() >= call.expiresAt) {
    const problem = 'ciphertext-expired';
    const result = notAccepted('CiphertextExpired', { cause: undefined, problem, now: now() });
    return { kind: 'failed', result, seen: { kind: 'nothing' } };
  }
  try {
    await logIn?.();
    return { kind: 'obtained', token: await call.tokens.current() };
  } catch (error) {
    telemetry.failure(tokenNotObtained, error);
    const problem = loginProblemOf(error);
    const result = notAccepted(tokenFailure(error), { cause: error, problem, now: now() });
    return { kind: 'failed', result, seen: seenIn(error, now()) };
  }
};

/** The limit of the call that reads a consent, and what has to be left of the invocation for it and all that follows. */
export const consentReadMs = 3_000;
export const consentReadNeedsMs = 20_000;

/**
 * A refusal with an HTTP status alone, under a consent that is not active, is due to the consent. If the consent cannot be read, or in
 * time, the status stays the reason.
 */
const withConsentProblem = async (
  called: Called,
  { readConsentProblem }: StartCall,
  token: string,
  { msLeft, telemetry }: Pick<CallDeps, 'telemetry'> & { readonly msLeft: () => number },
): Promise<Called> => {
  const { result } = called;
  const isByStatus = result.kind === 'refused' && /^http-4\d\d$/.test(result.reason);
  if (!isByStatus || readConsentProblem === undefined || msLeft() < consentReadNeedsMs) return called;
  try {
    const reason = (await readConsentProblem(token)) ?? result.reason;
    return { ...called, result: { kind: 'refused', reason } };
  } catch (error) {
    telemetry.failure('The consent of a refused start could not be read.', error);
    return called;
  }
};

/** What the start call brought, and what it showed about the entity and the provider. `wasSlow`: it has been reported so. */
type Called = { readonly result: StartCallResult; readonly seen: Seen; readonly wasSlow?: boolean };

/**
 * Makes the start call. Repeats it at most once, and only after a 401, which means that it was not accepted. `whenSlow` calls
 * back once a call takes too long, and returns how to stop waiting.
 */
export const makeStartCall = async (
  token: string,
  call: StartCall,
  deps: CallDeps & {
    readonly whenSlow: (callback: () => void) => () => void;
    readonly reportSlow: () => Promise<void>;
    /** How long this invocation may still run, in milliseconds. */
    readonly msLeft: () => number;
  },
): Promise<Called> => {
  const { telemetry, now } = deps;
  const postOnce = async (withToken: string): Promise<Called | 'unauthorized'> => {
    let reported: Promise<void> | undefined;
    const stop = deps.whenSlow(() => {
      reported = deps.reportSlow();
    });
    try {
      return {
        result: { kind: 'accepted', taskId: await call.post(withToken, stop) },
        seen: { kind: 'accepted' },
        wasSlow: reported !== undefined,
      };
    } catch (error) {
      telemetry.failure('The start call failed.', error);
      const result = resultOfError(error, now());
      if (result === 'unauthorized') return result;
      return { result, seen: seenIn(error, now()), wasSlow: reported !== undefined };
    } finally {
      stop();
      await reported;
    }
  };

  const post = async (withToken: string): Promise<Called | 'unauthorized'> => {
    const called = await postOnce(withToken);
    return called === 'unauthorized' ? called : withConsentProblem(called, call, withToken, deps);
  };

  const first = await post(token);
  if (first !== 'unauthorized') return first;
  if (!call.renewable) {
    return { result: { kind: 'refused', reason: 'session-token-refused' }, seen: { kind: 'nothing' } };
  }

  call.tokens.drop(token);
  let renewed: string;
  try {
    renewed = await call.tokens.current();
  } catch (error) {
    telemetry.failure(tokenNotObtained, error);
    // The status is STARTING, so an exception here would end as UNCONFIRMED. The 401 means that nothing was accepted.
    const problem = loginProblemOf(error);
    const result = notAccepted('ProviderUnauthorized', { cause: error, problem, now: now() });
    return { result, seen: seenIn(error, now()) };
  }
  const second = await post(renewed);
  if (second !== 'unauthorized') return second;
  call.tokens.drop(renewed);
  const unauthorized = { cause: undefined, problem: 'http-401', now: now() };
  return { result: notAccepted('ProviderUnauthorized', unauthorized), seen: { kind: 'nothing' } };
};
