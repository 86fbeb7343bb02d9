import { expect, test } from 'vitest';
import { cacheSessionTokens } from '../../../../../lib/provider/tokens/session-tokens.ts';
import { clock } from '../../../../support/extraction-fixtures.ts';

const minutes = 60;

/** A cache whose logins give token-1, token-2, …, or fail as told. */
const cache = (lifetimeMinutes = 60, fails: (login: number) => boolean = () => false) => {
  const time = clock();
  let logins = 0;
  const tokens = cacheSessionTokens({
    logIn: async () => {
      logins += 1;
      if (fails(logins)) throw new Error('login failed');
      return `token-${logins}`;
    },
    lifetimeMs: lifetimeMinutes * 60_000,
    now: time.now,
  });
  return { tokens, time, logins: () => logins };
};

test('a token serves until two minutes before its end', async () => {
  const { tokens, time } = cache();
  expect(await tokens.current()).toBe('token-1');
  time.set(58 * minutes - 0.001);
  expect(await tokens.current()).toBe('token-1');
  time.set(58 * minutes);
  expect(await tokens.current()).toBe('token-2');
});

test('a token of a minute serves for half of it', async () => {
  const { tokens, time } = cache(1);
  await tokens.current();
  time.set(29.999);
  expect(await tokens.current()).toBe('token-1');
  time.set(30);
  expect(await tokens.current()).toBe('token-2');
});

test('a login can be made although there is a token, which the new one replaces', async () => {
  const { tokens, logins } = cache();
  expect([await tokens.current(), await tokens.renew(), await tokens.current()]).toEqual([
    'token-1',
    'token-2',
    'token-2',
  ]);
  expect(logins()).toBe(2);
});

test('its life is counted from when it was asked for, not from when it came', async () => {
  const time = clock();
  let logins = 0;
  const tokens = cacheSessionTokens({
    logIn: async () => {
      time.advance(600);
      logins += 1;
      return `token-${logins}`;
    },
    lifetimeMs: 3_600_000,
    now: time.now,
  });
  await tokens.current();
  time.set(58 * minutes);
  expect(await tokens.current()).toBe('token-2');
});

test('calls that come together share one login', async () => {
  const { tokens, logins } = cache();
  const given = await Promise.all([tokens.current(), tokens.current(), tokens.current()]);
  expect(given).toEqual(['token-1', 'token-1', 'token-1']);
  expect(logins()).toBe(1);
});

test('a login that failed fails for everybody who shared it, and is not kept', async () => {
  const { tokens, logins } = cache(60, (login) => login === 1);
  const both = await Promise.allSettled([tokens.current(), tokens.current()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await tokens.current()).toBe('token-2');
  expect(logins()).toBe(2);
});

test('a token that was dropped is not given again', async () => {
  const { tokens } = cache();
  tokens.drop(await tokens.current());
  expect(await tokens.current()).toBe('token-2');
});

test('dropping a token that was replaced meanwhile leaves the new one', async () => {
  const { tokens, logins } = cache();
  const first = await tokens.current();
  tokens.drop(first);
  await tokens.current();
  tokens.drop(first);
  expect(await tokens.current()).toBe('token-2');
  expect(logins()).toBe(2);
});
