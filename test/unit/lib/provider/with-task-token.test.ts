import { expect, test } from 'vitest';
import { ProviderRefused, ProviderUnauthorized } from '../../../../lib/provider/errors.ts';
import { withTaskToken } from '../../../../lib/provider/with-task-token.ts';

/** Tokens ana-1, ana-2, …: a new one after every drop. */
const tokens = () => {
  let number = 1;
  const dropped: string[] = [];
  return {
    dropped,
    current: async (target: string) => `${target}-${number}`,
    drop: (target: string, token: string) => {
      dropped.push(`${target}: ${token}`);
      number += 1;
    },
  };
};

test('a call is made once with the current token of the user', async () => {
  const cache = tokens();
  const calls: string[] = [];
  expect(await withTaskToken(cache, 'ana', async (token) => calls.push(token))).toBe(1);
  expect(calls).toEqual(['ana-1']);
  expect(cache.dropped).toEqual([]);
});

test('a 401 drops the token and makes the call once more with a new one', async () => {
  const cache = tokens();
  const answer = await withTaskToken(cache, 'ana', async (token) => {
    if (token === 'ana-1') throw new ProviderUnauthorized('401');
    return `with ${token}`;
  });
  expect(answer).toBe('with ana-2');
  expect(cache.dropped).toEqual(['ana: ana-1']);
});

test('a second 401 is thrown', async () => {
  const calls: string[] = [];
  const call = withTaskToken(tokens(), 'ana', async (token) => {
    calls.push(token);
    throw new ProviderUnauthorized('401');
  });
  await expect(call).rejects.toThrow(ProviderUnauthorized);
  expect(calls).toEqual(['ana-1', 'ana-2']);
});

test('a 401 for the making of a token is thrown at once', async () => {
  const calls: string[] = [];
  const cache = {
    ...tokens(),
    current: async () => {
      throw new ProviderUnauthorized('401');
    },
  };
  const call = withTaskToken(cache, 'ana', async (token) => calls.push(token));
  await expect(call).rejects.toThrow(ProviderUnauthorized);
  expect(calls).toEqual([]);
});

test('any other failure is thrown at once, and the token stays', async () => {
  const cache = tokens();
  let calls = 0;
  const call = withTaskToken(cache, 'ana', async () => {
    calls += 1;
    throw new ProviderRefused('404', 404);
  });
  await expect(call).rejects.toThrow(ProviderRefused);
  expect(calls).toBe(1);
  expect(cache.dropped).toEqual([]);
});
