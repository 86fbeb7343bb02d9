import { expect, test } from 'vitest';
import { cacheSigningKeys } from '#lib/webhook/cache-signing-keys.ts';
import type { SigningKey } from '#lib/webhook/verify-signature.ts';
import { clock } from '../../../support/data/extraction-fixtures.ts';

const textsOf = (keys: readonly SigningKey[]) => keys.map(({ text }) => text);

/** A cache over answers given in advance; the last one stays. */
const cacheOver = (...answers: readonly (readonly string[] | Error)[]) => {
  const time = clock();
  let fetches = 0;
  const keys = cacheSigningKeys({
    fetchKeys: async () => {
      const answer = answers[Math.min(fetches, answers.length - 1)];
      fetches += 1;
      if (answer === undefined || answer instanceof Error) throw answer;
      return answer.map((text) => ({ text }));
    },
    refreshEveryMs: 15_000,
    now: time.now,
  });
  const current = async () => textsOf(await keys.current());
  const refreshed = async () => textsOf(await keys.refreshed());
  return { keys: { current, refreshed }, time, fetches: () => fetches };
};

// test/fuzz/webhook/key-rotation.ts has refetches after a mismatch.
test('the keys are fetched once in five minutes, and where the store is down, what was known still verifies', async () => {
  const { keys, time, fetches } = cacheOver(['k1'], new Error('down'), ['k2']);
  await keys.current();
  time.set(299.999);
  expect([await keys.current(), fetches()]).toEqual([['k1'], 1]);
  time.set(300);
  expect(await keys.current()).toEqual(['k1']);
  expect([await keys.current(), fetches()]).toEqual([['k1'], 2]);
  time.set(600);
  expect(await keys.current()).toEqual(['k2']);
});

test('concurrent mismatches make one fetch', async () => {
  const { keys, time, fetches } = cacheOver(['k1'], ['k2']);
  await keys.current();
  time.advance(15);
  await Promise.all([keys.refreshed(), keys.refreshed(), keys.refreshed()]);
  expect(fetches()).toBe(2);
  expect(await keys.current()).toEqual(['k2']);
});
