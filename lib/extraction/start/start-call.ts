import type { Attempt } from '../../breaker/circuit-breaker.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import type { StartExtractionRequest } from '../../provider/extractions/start-extraction.ts';
import type { TaskRequest } from '../../provider/tasks/task-request.ts';
import { type TaskTokens, tokensOf } from '../../provider/tokens/task-tokens.ts';
import type { Tokens } from '../../provider/tokens/tokens.ts';
import type { ConsentExtraction, ConsentVariant, CredentialsExtraction } from '../record.ts';
import type { SealedCredentialsData, SealedTargetData } from '../sealed-request-data.ts';
import {
  type NotAccepted,
  notAccepted,
  resultOfError,
  type StartCallResult,
  tokenFailure,
} from './start-answer.ts';

/** The start call of one extraction, ready to be made. It contains everything in which the two methods differ. */
export type StartCall = {
  readonly tokens: Tokens;
  /** False for a token that the caller supplied, because the service cannot replace it. */
  readonly renewable: boolean;
  /** Makes the call and returns the taskId. It is called a second time only after a 401, with another token. */
  readonly post: (token: string) => Promise<string>;
};

/** The most deliveries that the provider's API document allows ("Events", rule 2). */
const webhookRetries = 5;

const only = (token: string): Tokens => ({ current: async () => token, drop: () => undefined });

/** "Start task (v2)" with the recorded actions and the unsealed credentials, under a session token. */
export const callByCredentials = (
  { entity, actions }: CredentialsExtraction,
  { credentials, sessionToken }: SealedCredentialsData,
  deps: {
    readonly sessions: Tokens;
    readonly startTask: (sessionToken: string, request: TaskRequest) => Promise<string>;
  },
): StartCall => ({
  tokens: sessionToken === undefined ? deps.sessions : only(sessionToken),
  renewable: sessionToken === undefined,
  post: (token) =>
    deps.startTask(token, {
      entity,
      credentials,
      actions,
      webhook: { enable: true, retries: webhookRetries },
    }),
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
      ) => Promise<string>;
    };
  },
): StartCall => ({
  tokens: tokensOf(deps.taskTokens, target),
  renewable: true,
  post: (token) => deps.startExtraction[variant](token, { product, consentId }),
});

type CallDeps = { readonly attempt: Attempt; readonly now: () => Date; readonly telemetry: Telemetry };

const tokenNotObtained = 'No provider token could be obtained.';

/**
 * The token of the start call, or why there is none. A probe logs in first, which changes nothing. Throws an error that is
 * neither a ProviderError nor NotConfigured.
 */
export const obtainToken = async (
  call: StartCall,
  deps: CallDeps & { readonly logIn: () => Promise<unknown> },
): Promise<{ readonly kind: 'obtained'; readonly token: string } | NotAccepted> => {
  const { kind, prepare } = deps.attempt;
  try {
    if (kind === 'probe') await prepare(deps.logIn);
    return { kind: 'obtained', token: await prepare(() => call.tokens.current()) };
  } catch (error) {
    deps.telemetry.failure(tokenNotObtained, error);
    return notAccepted(tokenFailure(error), error, deps.now());
  }
};

/** Makes the start call. Repeats it at most once, and only after a 401, which means that it was not accepted. */
export const makeStartCall = async (
  token: string,
  call: StartCall,
  deps: CallDeps,
): Promise<StartCallResult> => {
  const { telemetry, now, attempt } = deps;
  const post = async (withToken: string): Promise<StartCallResult | 'unauthorized'> => {
    try {
      return { kind: 'accepted', taskId: await attempt.make(() => call.post(withToken)) };
    } catch (error) {
      telemetry.failure('The start call failed.', error);
      return resultOfError(error, now());
    }
  };

  const first = await post(token);
  if (first !== 'unauthorized') return first;
  if (!call.renewable) return { kind: 'refused', reason: 'session-token-refused' };

  call.tokens.drop(token);
  let renewed: string;
  try {
    renewed = await attempt.prepare(() => call.tokens.current());
  } catch (error) {
    telemetry.failure(tokenNotObtained, error);
    // The status is STARTING, so an exception here would end as UNCONFIRMED. The 401 means that nothing was accepted.
    return notAccepted('ProviderUnauthorized', error, now());
  }
  const second = await post(renewed);
  if (second !== 'unauthorized') return second;
  call.tokens.drop(renewed);
  return { kind: 'not-accepted', error: 'ProviderUnauthorized' };
};
