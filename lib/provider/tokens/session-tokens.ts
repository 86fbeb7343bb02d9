import type { Tokens } from './with-session.ts';

/** Returns the current session token, drops one that the provider refused, and logs in although there is one. */
export type SessionTokens = Tokens & { renew(): Promise<string> };

/**
 * A token is replaced this long before it expires. It then stays valid for the call, and for a task whose credentials
 * are encrypted under it. start-task runs for at most 90 s.
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
  /** Called back for each token that is dropped. */
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
