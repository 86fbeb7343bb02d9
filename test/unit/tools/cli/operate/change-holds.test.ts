import { expect, test } from 'vitest';
import { rateItem } from '#lib/rate-limit/rate-state.ts';
import { pausesItem } from '#lib/shared-item/operator-settings.ts';
import { memoryBreakerStore } from '#support/stores/memory-breaker-store.ts';
import { clearRate, pauseCalls, resumeCalls, setRate } from '#tools/cli/operate/change-holds.ts';

const now = () => new Date('2026-03-01T06:00:00.000Z');
const deps = { now, newVersion: () => crypto.randomUUID() };
const since = now().getTime();

const learnt = { perSecond: 2, at: since };
const lease = { holder: 'one', until: since + 10_000, ends: since + 100_000 };
const state = { nextStartAt: since, notBefore: 0, lineUntil: since, learnt, lease };

const stored = async () => {
  const store = memoryBreakerStore();
  await store.replace(rateItem, undefined, { state, version: '1' });
  const breakers = { ...store, list: async () => new Map(store.items) };
  return { breakers, stateOf: async (name: string) => (await store.read(name, 'strongly'))?.state };
};

test('a rate by hand and a pause leave each other as they are', async () => {
  const { breakers, stateOf } = await stored();
  await setRate(breakers, { perSecond: 3, reason: 'why', since }, deps);
  await pauseCalls(breakers, 'starts', { since, reason: 'maintenance' }, deps);
  await resumeCalls(breakers, 'starts', deps);
  expect(await stateOf(pausesItem)).toEqual({ rate: { perSecond: 3, reason: 'why', since } });
});

test('to resume starts closes breakers, and forgets no rate that was learnt', async () => {
  const { breakers, stateOf } = await stored();
  await resumeCalls(breakers, 'starts', deps);
  expect(await stateOf(rateItem)).toEqual(state);
});

test('to clear the rate forgets what was learnt, and takes no lease from the dispatcher', async () => {
  const { breakers, stateOf } = await stored();
  await setRate(breakers, { perSecond: 3, reason: 'why', since }, deps);
  await clearRate(breakers, deps);
  expect(await stateOf(pausesItem)).toEqual({});
  expect(await stateOf(rateItem)).toEqual({ lineUntil: 0, lease });
});
