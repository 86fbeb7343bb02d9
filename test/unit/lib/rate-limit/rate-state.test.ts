import { expect, test } from 'vitest';
import { noRate, parseRateState, type RateState, rateAt } from '#lib/rate-limit/rate-state.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
const lease = { holder: 'one', until: now + 10_000, ends: now + 900_000 };

test('the lower of limit and learnt rate counts, and what was learnt is forgotten a day after its last cut', () => {
  const state = { learnt: { perSecond: 4, accepted: 4, share: 0.1, at: now } };
  expect(rateAt(state, undefined, now)).toBe(4);
  expect(rateAt(state, 3, now)).toBe(3);
  expect(rateAt(state, 50, now + 86_399_999)).toBe(4);
  expect([rateAt(state, 50, now + 86_400_000), rateAt(state, undefined, now + 86_400_000)]).toEqual([
    50,
    undefined,
  ]);
});

test('what is stored is read as it was written, and a damaged part counts for nothing', () => {
  const full: RateState = {
    lineUntil: now + 5_000,
    lease,
    wokenAt: now,
    learnt: { perSecond: 4.9, accepted: 5, share: 0.3, at: now },
    windowFrom: now / 1_000,
    noise: { share: 0.06, until: now + 600_000 },
    slowStart: { perSecond: 20, at: now },
  };
  expect(parseRateState(JSON.parse(JSON.stringify(full)), now)).toEqual({ state: full, isDamaged: false });
  expect(parseRateState(undefined, now)).toEqual({ state: noRate, isDamaged: false });
  expect(parseRateState({ ...full, lineUntil: now + 90_000_000, learnt: 'much' }, now)).toEqual({
    state: { ...full, learnt: undefined, lineUntil: 0 },
    isDamaged: true,
  });
  expect(parseRateState('nonsense', now)).toEqual({ state: noRate, isDamaged: true });
  // Eight parts at most: each KB costs a write unit a second, and each part is something to know.
  expect(Object.keys(full).length).toBeLessThanOrEqual(8);
});
