import { expect, test } from 'vitest';
import { withTaskToken } from '../../../../../lib/provider/tokens/task-tokens.ts';
import { withSession } from '../../../../../lib/provider/tokens/tokens.ts';
import { ProviderBusy, ProviderUnauthorized } from '../../../../../lib/provider/transport/errors.ts';

/** Tokens t1, t2, …: a new one after every drop. */
const tokens = () => {
  let number = 1;
  const dropped: string[] = [];
  return {
    dropped,
    current: async () => `t${number}`,
    drop: (token: string) => {
      dropped.push(token);
      number += 1;
    },
  };
};

test('a call is made once with the current token', async () => {
  const session = tokens();
  const calls: string[] = [];
  expect(await withSession(session, async (token) => calls.push(token))).toBe(1);
  expect(calls).toEqual(['t1']);
  expect(session.dropped).toEqual([]);
});

test('a 401 drops the token and makes the call once more with a new one', async () => {
  const session = tokens();
  const answer = await withSession(session, async (token) => {
    if (token === 't1') throw new ProviderUnauthorized('401');
    return `with ${token}`;
  });
  expect(answer).toBe('with t2');
  expect(session.dropped).toEqual(['t1']);
});

test('a second 401 is thrown', async () => {
  const calls: string[] = [];
  const call = withSession(tokens(), async (token) => {
    calls.push(token);
    throw new ProviderUnauthorized('401');
  });
  await expect(call).rejects.toThrow(ProviderUnauthorized);
  expect(calls).toEqual(['t1', 't2']);
});

test('any other failure is thrown at once, and the token stays', async () => {
  const session = tokens();
  let calls = 0;
  const call = withSession(session, async () => {
    calls += 1;
    throw new ProviderBusy('429');
  });
  await expect(call).rejects.toThrow(ProviderBusy);
  expect(calls).toBe(1);
  expect(session.dropped).toEqual([]);
});

test('a 401 for the making of a token is thrown at once', async () => {
  const calls: string[] = [];
  const current = () => Promise.reject(new ProviderUnauthorized('401'));
  const call = withSession({ ...tokens(), current }, async (token) => calls.push(token));
  await expect(call).rejects.toThrow(ProviderUnauthorized);
  expect(calls).toEqual([]);
});

test('a Task Token that is refused is dropped for its own user', async () => {
  const dropped: string[] = [];
  const cache = {
    current: async (target: string) => `${target}-${dropped.length + 1}`,
    drop: (target: string, token: string) => void dropped.push(`${target}: ${token}`),
  };
  const answer = await withTaskToken(cache, 'ana', async (token) => {
    if (token === 'ana-1') throw new ProviderUnauthorized('401');
    return `with ${token}`;
  });
  expect(answer).toBe('with ana-2');
  expect(dropped).toEqual(['ana: ana-1']);
});
