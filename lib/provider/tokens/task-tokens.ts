import { createHmac, randomBytes } from 'node:crypto';
import type { Tokens } from './tokens.ts';

/** Hands out a Task Token per user, and forgets one that the provider no longer takes. */
export type TaskTokens = {
  current(target: string): Promise<string>;
  drop(target: string, token: string): void;
};

/** The Task Tokens of one user, to be handled as any other token is. */
export const tokensOf = (taskTokens: TaskTokens, target: string): Tokens => ({
  current: () => taskTokens.current(target),
  drop: (token) => taskTokens.drop(target, token),
});

type Entry = {
  readonly asked: Promise<string>;
  readonly usableUntil: number;
  /** Once it has come. */
  token?: string;
};

/**
 * Caches Task Tokens for `lifetimeMs` each, counted from when they were asked for. How long the provider takes
 * one is "not shown" ("Limits"): keep it short, and drop a token at its first 401. Calls for one user that come
 * together share one creation; a failed one is not kept.
 */
export const cacheTaskTokens = (options: {
  readonly create: (target: string) => Promise<string>;
  readonly lifetimeMs: number;
  readonly now: () => Date;
}): TaskTokens => {
  const entries = new Map<string, Entry>();
  // A target is a national id, and there are too few of those for a plain hash to hide one. Under a key that
  // never leaves this closure, the map does not hold the target at all, not even for as long as its token.
  const key = randomBytes(32);
  const nameOf = (target: string): string => createHmac('sha256', key).update(target).digest('base64');

  /** All of them, not only the one asked for: a user who never comes back must not leave a token behind. */
  const forgetExpired = (now: number): void => {
    for (const [name, { usableUntil }] of entries) if (now >= usableUntil) entries.delete(name);
  };

  const ask = (name: string, target: string, now: number): Promise<string> => {
    const asked = options.create(target);
    const entry: Entry = { asked, usableUntil: now + options.lifetimeMs };
    entries.set(name, entry);
    asked.then(
      (token) => {
        entry.token = token;
      },
      () => {
        if (entries.get(name) === entry) entries.delete(name);
      },
    );
    return asked;
  };

  return {
    current: (target) => {
      const now = options.now().getTime();
      forgetExpired(now);
      const name = nameOf(target);
      return entries.get(name)?.asked ?? ask(name, target, now);
    },
    drop: (target, token) => {
      const name = nameOf(target);
      if (entries.get(name)?.token === token) entries.delete(name);
    },
  };
};
