import { expect, test } from 'vitest';
import { cacheSigningKeys, type SigningKey } from '../../../../lib/webhook/signing-keys.ts';
import { clock } from '../../../support/data/extraction-fixtures.ts';

const textsOf = (keys: readonly SigningKey[] | undefined) => keys?.map(({ text }) => text);

/** A cache over answers given in advance; the last one stays. */
const cacheOver = (...answers: readonly (readonly string[] | Error)[]) => {
  const time = clock();
  let fetches = 0;
  const keys = cacheSigningKeys({
    fetchKeys: async () => {
      const answer = answers[Math.min(fetches, answers.length - 1)];
      fetches += 1;
      if (answer === undefined || answer instanceof Error) throw answer;
      return answer;
    },
    refreshEveryMs: 15_000,
    now: time.now,
  });
  const current = async () => textsOf(await keys.current());
  const refreshed = async () => textsOf(await keys.refreshed());
  return { keys: { current, refreshed }, time, fetches: () => fetches };
};

// test/fuzz/webhook/key-rotation.ts has refetches after a mismatch.
test('the keys are fetched once in five minutes', async () => {
  const { keys, time, fetches } = cacheOver(['k1']);
  expect(await keys.current()).toEqual(['k1']);
  time.advance(299.999);
  expect(await keys.current()).toEqual(['k1']);
  expect(fetches()).toBe(1);
});

test('where the store is down, what was known still verifies, and is asked for again five minutes later', async () => {
  const { keys, time, fetches } = cacheOver(['k1'], new Error('down'), ['k2']);
  await keys.current();
  time.advance(300);
  expect(await keys.current()).toEqual(['k1']);
  expect(await keys.current()).toEqual(['k1']);
  expect(fetches()).toBe(2);
  time.advance(300);
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
