import type { Tokens } from './tokens.ts';

/** Hands out the current session token, and forgets one that the provider no longer takes. */
export type SessionTokens = Tokens;

/**
 * A token is abandoned this long before its end, so that a call made with it, and a task started with
 * credentials encrypted under it, still has it valid: more than the 90 s that start-task may run.
 */
const safetyMarginMs = 120_000;

/**
 * Caches one session token. Calls that come while a login is under way share it; a failed login is not kept.
 * `lifetimeMs` is what was asked for as `expire`.
 */
export const cacheSessionTokens = (options: {
  readonly logIn: () => Promise<string>;
  readonly lifetimeMs: number;
  readonly now: () => Date;
}): SessionTokens => {
  const usableMs = Math.max(options.lifetimeMs - safetyMarginMs, options.lifetimeMs / 2);
  let cached: { readonly token: string; readonly usableUntil: number } | undefined;
  let underWay: Promise<string> | undefined;

  const logInOnce = async (): Promise<string> => {
    const askedAt = options.now().getTime();
    const token = await options.logIn();
    cached = { token, usableUntil: askedAt + usableMs };
    return token;
  };

  return {
    current: () => {
      if (cached !== undefined && options.now().getTime() < cached.usableUntil) {
        return Promise.resolve(cached.token);
      }
      underWay ??= logInOnce().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
    drop: (token) => {
      if (cached?.token === token) cached = undefined;
    },
  };
};
