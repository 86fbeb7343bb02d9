import { expect, test } from 'vitest';
import { afterOverload } from '../../../../lib/rate-limit/learn-rate.ts';
import {
  afterReopening,
  atRaisedRate,
  budget,
  hasLine,
  isLeased,
  noRate,
  parseRateState,
  pruned,
  type RateState,
  rateAt,
  reopeningKey,
  reopeningRates,
  take,
  withLine,
} from '../../../../lib/rate-limit/rate-state.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');

test('starts pass by the clock at their rate, a second of them at once', () => {
  let state = noRate;
  let passed = 0;
  for (let ms = 0; ms < 10_000; ms += 10) {
    if (budget(state, 5, now + ms) === 0) continue;
    state = take(state, 5, now + ms);
    passed += 1;
  }
  expect(passed).toBe(55);
  expect(budget(noRate, undefined, now)).toBe(Infinity);
  expect(budget(noRate, 0.05, now)).toBe(1);
  expect(budget(take(noRate, 0.05, now), 0.05, now + 19_299)).toBe(0);
  expect(budget(take(noRate, 0.05, now), 0.05, now + 19_300)).toBe(1);
});

test('the next start at a rate that was raised does not wait as long as at the former one', () => {
  const held = take(noRate, 0.001, now);
  expect(atRaisedRate(held, 5, now).nextStartAt).toBe(now + 1_200);
  // Nothing changes at the rate at which it was taken, also of what a tick took a second ahead.
  for (const rate of [0.001, 0.1, 5, 200]) {
    const ahead = take(take(noRate, rate, now), rate, now, budget(take(noRate, rate, now), rate, now));
    expect(atRaisedRate(ahead, rate, now)).toBe(ahead);
  }
});

test('the lower of limit and learnt rate counts, and what was learnt doubles in 12 hours', () => {
  const state = { ...noRate, learnt: { perSecond: 4, at: now } };
  expect(rateAt(state, undefined, now)).toBe(4);
  expect(rateAt(state, 3, now)).toBe(3);
  expect(rateAt(state, 50, now + 12 * 3_600_000)).toBe(8);
  expect(rateAt(state, undefined, now + 73 * 3_600_000)).toBeUndefined();
  expect(rateAt(noRate, undefined, now)).toBeUndefined();
});

test('a line ends by itself, if nobody renews it', () => {
  const state = withLine(noRate, now);
  expect(hasLine(state, now + 4_999)).toBe(true);
  expect(hasLine(state, now + 5_000)).toBe(false);
  expect(withLine(state, now + 1_000)).toBe(state);
});

test('a group that reopens is started slowly for a minute, twice as fast each ten seconds', () => {
  const state = afterReopening(noRate, [reopeningKey('caller', 'bank')], now);
  const rateAfter = (seconds: number, group = 'bank') =>
    reopeningRates(state, 'caller', group, now + seconds * 1_000).map(([, rate]) => rate);
  expect([rateAfter(0), rateAfter(25), rateAfter(60)]).toEqual([[1], [4], []]);
  expect(rateAfter(0, 'another bank')).toEqual([]);
  const both = afterReopening(state, [reopeningKey('caller')], now);
  expect(reopeningRates(both, 'caller', 'another bank', now)).toEqual([[reopeningKey('caller'), 1]]);
  expect(pruned(both, now + 60_000)).toEqual(noRate);
});

test('a lease is another dispatcher’s until it ends', () => {
  const state = { ...noRate, lease: { holder: 'one', until: now + 10_000, ends: now + 900_000 } };
  expect([isLeased(state, 'one', now), isLeased(state, 'two', now)]).toEqual([false, true]);
  expect(isLeased(state, 'two', now + 10_000)).toBe(false);
});

test('what is stored is read as it was written, and a damaged part counts for nothing', () => {
  const full: RateState = {
    ...afterReopening(afterOverload(withLine(noRate, now), now + 6_000), ['caller bank'], now),
    learnt: { perSecond: 4.9, at: now, ceiling: 5, capacity: 5 },
    cuts: { count: 1, at: now, from: 5, calls: 5, accepted: 4, since: { accepted: 40, failed: 1 } },
    stray: { share: 0.04, until: now + 600_000 },
    lease: { holder: 'one', until: now + 10_000, ends: now + 900_000 },
  };
  expect(parseRateState(JSON.parse(JSON.stringify(full)), now)).toEqual({ state: full, isDamaged: false });
  expect(parseRateState(undefined, now)).toEqual({ state: noRate, isDamaged: false });
  expect(parseRateState({ ...full, notBefore: now + 90_000_000, learnt: 'much' }, now)).toEqual({
    state: { ...full, learnt: undefined, notBefore: 0 },
    isDamaged: true,
  });
  expect(parseRateState('nonsense', now)).toEqual({ state: noRate, isDamaged: true });
});
