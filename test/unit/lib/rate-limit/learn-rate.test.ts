import { expect, test } from 'vitest';
import { callKey, failsEverywhere, noCalls } from '#lib/rate-limit/call-counts.ts';
import { countFromNow, isBeforeCut, judgeCalls, type Window } from '#lib/rate-limit/learn-rate.ts';
import { noRate, type RateState } from '#lib/rate-limit/rate-state.ts';

const now = 1_800_000_000_000;
const from = now / 1_000;

type Given = Partial<Record<'accepted' | 'refused' | 'failed', number>>;

/** The calls of callers, each at one bank. */
const windowOf = (seconds: number, ...callers: readonly Given[]): Window => ({
  seconds,
  calls: new Map(
    callers.map((counts, index) => [callKey(`role/${index}`, 'bank'), { ...noCalls, ...counts }]),
  ),
});

const counting: RateState = { ...noRate, windowFrom: from };
const learnt = (perSecond: number, fields: Partial<NonNullable<RateState['learnt']>> = {}): RateState => ({
  ...counting,
  learnt: { perSecond, accepted: perSecond / 0.9, share: 0.5, at: now - 60_000, ...fields },
});
const withLine = (state: RateState): RateState => ({ ...state, lineUntil: now + 5_000 });

test('a first rate is a little less than what was accepted of 20 calls', () => {
  const { state, judged, share } = judgeCalls(
    counting,
    windowOf(2, { accepted: 10, refused: 90 }),
    undefined,
    now,
  );
  expect(judged).toBe('cut');
  expect(state).toMatchObject({
    learnt: { perSecond: 4.5, accepted: 5, share: 0.9, at: now },
    windowFrom: from + 3,
  });
  expect(share).toBe(0.9);
});

test.each<readonly [string, Window]>([
  ['less than a second', windowOf(0.9, { accepted: 10, refused: 90 })],
  ['fewer than 20 calls', windowOf(9, { accepted: 1, refused: 18 })],
])('nothing is judged after %s', (_, window) => {
  expect(judgeCalls(counting, window, undefined, now).state).toBe(counting);
});

test('one refusal on an idle deployment, and an outage, teach no rate', () => {
  for (const counts of [{ refused: 1 }, { refused: 19 }, { failed: 100 }]) {
    const { state, judged } = judgeCalls(counting, windowOf(10, counts), undefined, now);
    expect([judged, state.learnt]).toEqual(['unchanged', undefined]);
  }
});

test.each<readonly [string, readonly Given[], 'cut' | 'unchanged']>([
  [
    'one caller is refused, and the others are not',
    [{ accepted: 5, refused: 45 }, { accepted: 50 }],
    'unchanged',
  ],
  ['two callers are', [{ accepted: 5, refused: 45 }, { accepted: 40, refused: 10 }, { accepted: 50 }], 'cut'],
  ['nobody else asks', [{ accepted: 5, refused: 45 }], 'cut'],
  ['the other one asks seldom', [{ accepted: 5, refused: 45 }, { accepted: 9 }], 'cut'],
  ['each asks seldom', Array.from({ length: 10 }, () => ({ accepted: 2, refused: 2 })), 'cut'],
])('with a rate, if %s', (_, callers, judged) => {
  expect(judgeCalls(learnt(10), windowOf(10, ...callers), undefined, now).judged).toBe(judged);
});

test('a rate falls to 0.9 × what was accepted, and at most by half', () => {
  const after = (counts: Given) =>
    judgeCalls(learnt(10, { accepted: 10 }), windowOf(10, counts), undefined, now).state.learnt;
  expect(after({ accepted: 80, refused: 20 })).toMatchObject({ accepted: 8, perSecond: 7.2 });
  expect(after({ accepted: 10, refused: 90 })).toMatchObject({ accepted: 5, perSecond: 4.5 });
});

test('failures count twice, under a load, and if they are everywhere', () => {
  const judged = (seconds: number, calls: Window['calls']) =>
    judgeCalls(learnt(10), { seconds, calls }, undefined, now).judged;
  expect(judged(10, windowOf(10, { accepted: 95, failed: 3 }).calls)).toBe('cut');
  expect(judged(60, windowOf(60, { accepted: 95, failed: 20 }).calls)).toBe('unchanged');
  const at = (bank: string, counts: Given) => [callKey('role/0', bank), { ...noCalls, ...counts }] as const;
  expect(judged(10, new Map([at('good', { accepted: 90 }), at('bad', { accepted: 2, failed: 8 })]))).toBe(
    'unchanged',
  );
});

test('many banks with a call each fail everywhere if those beside the failed ones do', () => {
  const banks = (failing: number) =>
    new Map(
      Array.from({ length: 40 }, (_, index) => [
        `c.${index}`,
        { ...noCalls, accepted: 2, failed: index < failing ? 1 : 0 },
      ]),
    );
  expect([banks(20), banks(1)].map(failsEverywhere)).toEqual([true, true]);
  const few = new Map([...banks(0), ['c.x', { ...noCalls, failed: 20 }]]);
  expect(failsEverywhere(few)).toBe(false);
});

test('what is refused as often far below what was accepted is not due to the rate', () => {
  const state = learnt(9, { accepted: 10, share: 0.06 });
  const strays = windowOf(10, { accepted: 84, refused: 6 });
  const undone = judgeCalls(state, strays, undefined, now);
  expect(undone).toMatchObject({ judged: 'undone', state: { noise: { until: now + 600_000 } } });
  expect(undone.state.learnt).toBeUndefined();
  // As many show nothing then. What is added to them does.
  const later = (window: Window) =>
    judgeCalls({ ...undone.state, windowFrom: from }, window, undefined, now).judged;
  expect([later(strays), later(windowOf(10, { accepted: 84, failed: 6 }))]).toEqual([
    'unchanged',
    'unchanged',
  ]);
  expect(later(windowOf(10, { accepted: 84, refused: 20 }))).toBe('cut');
  // A day after the cut, its rate is forgotten, so it is not below anything.
  const forgotten = learnt(9, { accepted: 10, share: 0.06, at: now - 24 * 3_600_000 });
  expect(judgeCalls(forgotten, strays, undefined, now)).toMatchObject({
    judged: 'cut',
    state: { learnt: { at: now } },
  });
  // Most are refused: its rate fell further.
  expect(judgeCalls(state, windowOf(10, { accepted: 40, refused: 50 }), undefined, now).judged).toBe('cut');
});

test('a rate grows while somebody waits, slowly up to what was accepted, and is forgotten at the limit', () => {
  const calm = windowOf(10, { accepted: 50 });
  const grown = (state: RateState, window = calm, limit?: number) => {
    const { judged, state: after } = judgeCalls(withLine(state), window, limit, now);
    return [judged, after.learnt?.perSecond];
  };
  expect(grown(learnt(5))).toEqual(['grown', 5 * 1.015]);
  // The next window begins with the next second.
  expect(judgeCalls(withLine(learnt(5)), calm, undefined, now).state.windowFrom).toBe(
    Math.floor(now / 1_000) + 1,
  );
  expect(grown(learnt(5, { accepted: 4 }))).toEqual(['grown', 5.5]);
  expect(grown(learnt(0.1), windowOf(100, { accepted: 10 }))).toEqual(['grown', 0.1 * 1.015 ** 10]);
  expect(grown(learnt(0.1, { accepted: 0.05 }), windowOf(100, { accepted: 10 }))).toEqual(['grown', 0.125]);
  expect(grown(learnt(5), calm, 5.05)).toEqual(['unlimited', undefined]);
  expect(grown(learnt(199))).toEqual(['unlimited', undefined]);
  const idle = judgeCalls(learnt(5), calm, undefined, now);
  expect(idle).toMatchObject({ judged: 'unchanged', state: { learnt: { perSecond: 5 } } });
  // Nobody waits and nothing was bad: nothing more is counted.
  expect(idle.state.windowFrom).toBeUndefined();
});

test('after a bad call, calls are counted from the next second on', () => {
  expect(countFromNow(noRate, now + 999).windowFrom).toBe(from + 1);
  expect(countFromNow(counting, now)).toBe(counting);
});

test('a start that was admitted before a cut had settled shows nothing of the lower rate', () => {
  const state = learnt(5, { at: now });
  expect([now - 1, now + 2_999, now + 3_000].map((at) => isBeforeCut(state, at))).toEqual([
    true,
    true,
    false,
  ]);
  expect(isBeforeCut(noRate, now)).toBe(false);
});
