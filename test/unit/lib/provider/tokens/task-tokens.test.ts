import { expect, test } from 'vitest';
import { cacheTaskTokens } from '../../../../../lib/provider/tokens/task-tokens.ts';
import { clock } from '../../../../support/extraction-fixtures.ts';

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
