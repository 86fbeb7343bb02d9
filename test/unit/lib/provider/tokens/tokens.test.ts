import { describe, expect, test } from 'vitest';
import { cacheSessionTokens } from '../../../../../lib/provider/tokens/session-tokens.ts';
import { cacheTaskTokens, withTaskToken } from '../../../../../lib/provider/tokens/task-tokens.ts';
import { withSession } from '../../../../../lib/provider/tokens/tokens.ts';
import { ProviderBusy, ProviderUnauthorized } from '../../../../../lib/provider/transport/errors.ts';
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

describe('task-tokens', () => {
  const lifetimeSeconds = 300;

  /** A cache whose creations give <target>/1, <target>/2, …, or fail as told. */
  const cache = (fails: (creation: number) => boolean = () => false) => {
    const time = clock();
    let creations = 0;
    const tokens = cacheTaskTokens({
      create: async (target) => {
        creations += 1;
        if (fails(creations)) throw new Error('creation failed');
        return `${target}/${creations}`;
      },
      lifetimeMs: lifetimeSeconds * 1_000,
      now: time.now,
    });
    return { tokens, time, creations: () => creations };
  };

  test('a token serves its user for its time, and no longer', async () => {
    const { tokens, time } = cache();
    expect(await tokens.current('ana')).toBe('ana/1');
    time.set(lifetimeSeconds - 0.001);
    expect(await tokens.current('ana')).toBe('ana/1');
    time.set(lifetimeSeconds);
    expect(await tokens.current('ana')).toBe('ana/2');
  });

  test('each user has a token of their own', async () => {
    const { tokens } = cache();
    expect(await tokens.current('ana')).toBe('ana/1');
    expect(await tokens.current('eva')).toBe('eva/2');
    expect(await tokens.current('ana')).toBe('ana/1');
  });

  test('its life is counted from when it was asked for, not from when it came', async () => {
    const time = clock();
    let creations = 0;
    const tokens = cacheTaskTokens({
      create: async () => {
        time.advance(100);
        creations += 1;
        return `token-${creations}`;
      },
      lifetimeMs: lifetimeSeconds * 1_000,
      now: time.now,
    });
    await tokens.current('ana');
    time.set(lifetimeSeconds);
    expect(await tokens.current('ana')).toBe('token-2');
  });

  test('calls for one user that come together share one creation', async () => {
    const { tokens, creations } = cache();
    expect(await Promise.all([tokens.current('ana'), tokens.current('ana')])).toEqual(['ana/1', 'ana/1']);
    expect(creations()).toBe(1);
  });

  test('a creation that failed fails for everybody who shared it, and is not kept', async () => {
    const { tokens, creations } = cache((creation) => creation === 1);
    const both = await Promise.allSettled([tokens.current('ana'), tokens.current('ana')]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await tokens.current('ana')).toBe('ana/2');
    expect(creations()).toBe(2);
  });

  test('a token that was dropped is not given again, from that moment on', async () => {
    const { tokens } = cache();
    tokens.drop('ana', await tokens.current('ana'));
    expect(await tokens.current('ana')).toBe('ana/2');
  });

  test('dropping one user’s token leaves that of another', async () => {
    const { tokens, creations } = cache();
    const ana = await tokens.current('ana');
    await tokens.current('eva');
    tokens.drop('eva', ana);
    tokens.drop('ana', ana);
    expect(await tokens.current('eva')).toBe('eva/2');
    expect(creations()).toBe(2);
  });

  test('dropping a token that was replaced meanwhile leaves the new one', async () => {
    const { tokens, creations } = cache();
    const first = await tokens.current('ana');
    tokens.drop('ana', first);
    await tokens.current('ana');
    tokens.drop('ana', first);
    expect(await tokens.current('ana')).toBe('ana/2');
    expect(creations()).toBe(2);
  });
});

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
