import * as v from 'valibot';
import { ProviderUnauthorized } from '../transport/errors.ts';
import { answerText, checkRequest, positiveInteger } from '../transport/field-schemas.ts';
import { type Connection, requestAnswer } from '../transport/send-request.ts';

/** Makes a call that authenticates with the API key. The call may be made again with another key after a 401. */
export type WithApiKey = <T>(call: (apiKey: string) => Promise<T>) => Promise<T>;

/** Returns the current token for calls, and drops a token that the provider refused. */
export type Tokens<Token = string> = {
  current(): Promise<Token>;
  drop(token: Token): void;
};

/** Makes a call with the current token. A 401 drops the token, and the call is made once more with a new one. */
export const withSession = async <T, Token = string>(
  tokens: Tokens<Token>,
  call: (token: Token) => Promise<T>,
): Promise<T> => {
  const token = await tokens.current();
  try {
    return await call(token);
  } catch (error) {
    if (!(error instanceof ProviderUnauthorized)) throw error;
    tokens.drop(token);
    return call(await tokens.current());
  }
};

const path = '/api/v1/auth/login';
const requestSchema = v.object({ expire: v.optional(positiveInteger) });
const answerSchema = v.object({ token: answerText });

/**
 * Exchanges the API key for a session token that is valid for `expireMinutes`, 60 by default ("Session token"). Throws
 * ProviderUnauthorized for a wrong API key, and the other ProviderErrors. Every failed login can be repeated.
 */
export const logIn = async (
  connection: Connection,
  apiKey: string,
  expireMinutes?: number,
): Promise<string> => {
  const body = expireMinutes === undefined ? {} : { expire: expireMinutes };
  checkRequest(requestSchema, body, path);
  const { token } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path,
    headers: { 'X-API-Key': apiKey },
    body,
  });
  return token;
};

/** Returns the current session token, drops a token that the provider refused, and can log in although there is a current one. */
export type SessionTokens = Tokens & { renew(): Promise<string> };

/**
 * A token is replaced this long before it expires. So it stays valid for the call, and for a task whose credentials are encrypted under it.
 * start-task runs for at most 90 s.
 */
const safetyMarginMs = 120_000;

/**
 * Caches one session token. Concurrent calls share a login, and a failed login is not cached. `lifetimeMs` is the
 * `expire` of the login. `current` throws what `logIn` throws.
 */
export const cacheSessionTokens = (options: {
  readonly logIn: () => Promise<string>;
  readonly lifetimeMs: number;
  readonly now: () => Date;
  readonly onRefused?: () => void;
}): SessionTokens => {
  const usableMs = Math.max(options.lifetimeMs - safetyMarginMs, options.lifetimeMs / 2);
  let cached: { readonly token: string; readonly usableUntil: number } | undefined;
  let underWay: Promise<string> | undefined;

  const logInOnce = async (): Promise<string> => {
    const requestedAt = options.now().getTime();
    const token = await options.logIn();
    cached = { token, usableUntil: requestedAt + usableMs };
    return token;
  };

  const renew = (): Promise<string> => {
    underWay ??= logInOnce().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };

  return {
    current: () =>
      cached !== undefined && options.now().getTime() < cached.usableUntil
        ? Promise.resolve(cached.token)
        : renew(),
    renew,
    drop: (token) => {
      options.onRefused?.();
      if (cached?.token === token) cached = undefined;
    },
  };
};
