import { describe, expect, test } from 'vitest';
import { cacheSessionTokens, withSession } from '#lib/provider/tokens/session-tokens.ts';
import { cacheTaskTokens, tokensOf } from '#lib/provider/tokens/task-tokens.ts';
import { ProviderUnauthorized } from '#lib/provider/transport/errors.ts';
import { clock } from '../../../../support/data/extraction-fixtures.ts';

test('a call is made with the session token that is kept, and after a 401 once more with a new one', async () => {
  let logins = 0;
  const sessions = cacheSessionTokens({
    logIn: async () => {
      logins += 1;
      return `session-${logins}`;
    },
    lifetimeMs: 3_600_000,
    now: () => new Date(),
  });
  expect(await withSession(sessions, async (token) => token)).toBe('session-1');
  const used: string[] = [];
  await withSession(sessions, async (token) => {
    used.push(token);
    if (token === 'session-1') throw new ProviderUnauthorized('401');
  });
  expect(used).toEqual(['session-1', 'session-2']);
});

/** How the provider makes token-1, token-2, …: each takes so many seconds, or fails. */
type Making = { readonly takes?: number; readonly fails?: (nth: number) => boolean };

const maker = ({ takes = 0, fails = () => false }: Making) => {
  const time = clock();
  let made = 0;
  const make = async () => {
    time.advance(takes);
    made += 1;
    if (fails(made)) throw new Error('It was not made.');
    return `token-${made}`;
  };
  return { time, make, made: () => made };
};

const sessionOf = (making: Making = {}, lifetimeMs = 3_600_000) => {
  const { time, make, made } = maker(making);
  return { time, made, tokens: cacheSessionTokens({ logIn: make, lifetimeMs, now: time.now }) };
};

const taskTokensOf = (making: Making = {}) => {
  const { time, make, made } = maker(making);
  const cache = cacheTaskTokens({ create: make, lifetimeMs: 300_000, now: time.now });
  return { time, made, cache, tokens: tokensOf(cache, 'ana') };
};

describe.each([
  // Two minutes before its end, so that it outlives the call.
  ['a session token', sessionOf, 58 * 60],
  ['a Task Token', taskTokensOf, 300],
] as const)('%s', (_which, cacheOf, servesSeconds) => {
  test('serves for its time, counted from when it was asked for', async () => {
    const { tokens, time } = cacheOf({ takes: 100 });
    expect(await tokens.current()).toBe('token-1');
    time.set(servesSeconds - 0.001);
    expect(await tokens.current()).toBe('token-1');
    time.set(servesSeconds);
    expect(await tokens.current()).toBe('token-2');
  });

  test('that could not be made fails everybody who shared it, and is not kept', async () => {
    const { tokens, made } = cacheOf({ fails: (nth) => nth === 1 });
    const both = await Promise.allSettled([tokens.current(), tokens.current()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([await tokens.current(), made()]).toEqual(['token-2', 2]);
  });
});

test('a session token of a minute serves for half of it', async () => {
  const { tokens, time } = sessionOf({}, 60_000);
  await tokens.current();
  time.set(29.999);
  expect(await tokens.current()).toBe('token-1');
  time.set(30);
  expect(await tokens.current()).toBe('token-2');
});

test('a login can be made although there is a token, which the new one replaces', async () => {
  const { tokens } = sessionOf();
  expect([await tokens.current(), await tokens.renew(), await tokens.current()]).toEqual([
    'token-1',
    'token-2',
    'token-2',
  ]);
});

test('each user has a Task Token of their own, which the refusal of another’s leaves', async () => {
  const { cache } = taskTokensOf();
  const ana = await cache.current('ana');
  expect([ana, await cache.current('eva')]).toEqual(['token-1', 'token-2']);
  cache.drop('eva', ana);
  cache.drop('ana', ana);
  expect([await cache.current('eva'), await cache.current('ana')]).toEqual(['token-2', 'token-3']);
});
