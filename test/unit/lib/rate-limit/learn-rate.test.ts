import { describe, expect, test } from 'vitest';
import { defined } from '../../../../lib/defined.ts';
import {
  afterOverload,
  afterRefusal,
  isBeforeCut,
  judgeCalls,
  releaseRateAt,
  withCounts,
} from '../../../../lib/rate-limit/learn-rate.ts';
import {
  budget,
  type Learnt,
  noRate,
  type RateState,
  withLine,
} from '../../../../lib/rate-limit/rate-state.ts';
import { type CallCounts, noCalls } from '../../../../lib/rate-limit/start-line.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
/** Calls at one bank. */
const callsOf = (calls: Partial<Pick<CallCounts, 'accepted' | 'refused' | 'overloaded'>>): CallCounts => ({
  ...noCalls,
  ...calls,
  acceptedIn: { 1: calls.accepted ?? 0 },
  overloadedIn: calls.overloaded ? ['1'] : [],
});

/** A state at whose end a window of ten seconds is judged, with a line. */
const judgedAfter = (calls: Partial<CallCounts>, state: Partial<RateState> = {}, seconds = 10) => {
  const begun = withCounts({ ...noRate, ...state }, noCalls, now / 1_000 - 1, now);
  const end = now + seconds * 1_000;
  const counted = withCounts(
    begun,
    calls.acceptedIn === undefined ? callsOf(calls) : { ...noCalls, ...calls },
    end / 1_000 - 1,
    end,
  );
  return judgeCalls(withLine(counted, end), undefined, end);
};

const learntIn = ({ state }: ReturnType<typeof judgeCalls>): number | undefined => state.learnt?.perSecond;

describe('a 429', () => {
  const refused = (state: RateState, limit?: number, retryAt?: number) =>
    afterRefusal(state, { limit, retryAt, now });

  test('without a rate begins to measure once, and what is accepted in two seconds is the first rate', () => {
    const state = refused(noRate);
    expect(refused(state)).toBe(state);
    const at = now + 2_000;
    const counted = withCounts(state, callsOf({ accepted: 10, refused: 90 }), at / 1_000, at);
    expect(judgeCalls(counted, undefined, at - 1).judged).toBe('unchanged');
    expect(judgeCalls(counted, undefined, at)).toMatchObject({
      judged: 'learnt',
      state: { learnt: { perSecond: 5 } },
    });
  });

  test('that few calls follow while some wait is measured by calls of the line, and only once', () => {
    const state = withLine(refused(noRate), now);
    expect(releaseRateAt(state, undefined, now)).toBe(0);
    const at = now + 2_000;
    const few = judgeCalls(withCounts(state, callsOf({ accepted: 1 }), at / 1_000, at), undefined, at);
    expect(few).toMatchObject({ judged: 'unchanged', state: { measuring: { because: 'few-calls' } } });
    expect(releaseRateAt(few.state, undefined, at)).toBe(10);
    expect(refused(few.state)).toBe(few.state);
    const end = at + 2_000;
    const shown = withCounts(few.state, callsOf({ accepted: 8, refused: 2 }), end / 1_000, end);
    expect(judgeCalls(shown, undefined, end).state.learnt?.perSecond).toBe(4);
  });

  test('with a rate measures nothing', () => {
    expect(refused(noRate, 5)).toBe(noRate);
  });

  test('holds all starts until its Retry-After, the largest one, and never for more than an hour', () => {
    const state = refused(refused(noRate, 5, now + 60_000), 5, now + 30_000);
    expect(budget(state, 5, now + 59_999)).toBe(0);
    expect(budget(state, 5, now + 60_000)).toBe(6);
    expect(refused(noRate, 5, now + 86_400_000).notBefore).toBe(now + 3_600_000);
  });
});

describe('a window of calls', () => {
  const learnt = { perSecond: 10, at: now };

  test('with more than 5 % refused lowers the rate to 0.95 of what was accepted, at most by half', () => {
    expect(learntIn(judgedAfter({ accepted: 80, refused: 20 }, { learnt }))).toBeCloseTo(7.6);
    expect(learntIn(judgedAfter({ accepted: 10, refused: 90 }, { learnt }))).toBeCloseTo(5);
    // Of 300, 3 % strays are refused, and 18 are not more than 5 % beyond them by chance.
    expect(judgedAfter({ accepted: 282, refused: 18 }, { learnt }).judged).toBe('unchanged');
    expect(judgedAfter({ accepted: 281, refused: 19 }, { learnt }).judged).toBe('cut');
  });

  test('with less than 2 % refused raises the rate by 3 %, up to the limit', () => {
    expect(learntIn(judgedAfter({ accepted: 100 }, { learnt }))).toBeCloseTo(10.3, 2);
    const { state } = judgedAfter({ accepted: 100 }, { learnt });
    expect(judgeCalls(state, 9, now + 10_000).state).toBe(state);
  });

  test('at a low rate raises it by as much for the same time, and by a quarter at most', () => {
    const rateAfter = (seconds: number, slow: Learnt) => {
      const window = {
        ...noCalls,
        since: now - (seconds - 10) * 1_000,
        countedFrom: now / 1_000 - 1,
        countedUntil: now / 1_000 - 1,
      };
      return learntIn(judgedAfter({ accepted: 20 }, { learnt: slow, window }));
    };
    expect(rateAfter(40, { ...learnt, perSecond: 0.5 })).toBeCloseTo(0.5 * 1.03 ** 4, 3);
    const lowest = { ...learnt, perSecond: 0.125 };
    expect(rateAfter(160, lowest)).toBeCloseTo(0.125 * 1.25, 3);
    expect(rateAfter(160, { ...lowest, ceiling: 0.125 })).toBeCloseTo(0.125 * 1.005 ** 16, 3);
  });

  test('between both brings a rate back below the capacity that it exceeds, which a cut has shown', () => {
    const { state } = judgedAfter({ accepted: 100, refused: 8 }, { learnt });
    const { learnt: cut, cuts } = state;
    const grown = judgedAfter({ accepted: 95 }, defined({ learnt: cut, cuts }));
    expect(grown).toMatchObject({ judged: 'grown', state: { learnt: { capacity: 10 } } });
    const above = { perSecond: 10.4, at: now, capacity: 10 };
    const fallen = judgedAfter({ accepted: 100, refused: 3 }, { learnt: above });
    expect(fallen).toMatchObject({ judged: 'cut', state: { learnt: { perSecond: 9.5, capacity: 10 } } });
    const below = { ...above, perSecond: 9.9 };
    expect(judgedAfter({ accepted: 97, refused: 3 }, { learnt: below }).judged).toBe('unchanged');
    // A provider that takes a tenth more has another capacity.
    const passed = judgedAfter({ accepted: 110 }, { learnt: { ...above, perSecond: 10.9 } });
    expect(passed.state.learnt).not.toHaveProperty('capacity');
  });

  test('between both keeps it, and too few calls decide nothing', () => {
    expect(learntIn(judgedAfter({ accepted: 97, refused: 3 }, { learnt }))).toBe(10);
    expect(judgedAfter({ accepted: 10, refused: 4 }, { learnt }).state.window?.accepted).toBe(10);
  });

  test('undoes two cuts that did not lower the share, and grows although that share fails', () => {
    let state: RateState = { ...noRate, learnt };
    let at = now;
    const judgedOf: string[] = [];
    for (let window = 0; window < 4; window += 1) {
      const rate = state.learnt?.perSecond ?? 0;
      const calls = callsOf({ accepted: 9 * rate, refused: rate });
      state = withCounts({ ...state, lineUntil: at + 99_000 }, noCalls, at / 1_000 - 1, at);
      at += 10_000;
      const { state: next, judged } = judgeCalls(withCounts(state, calls, at / 1_000 - 1, at), undefined, at);
      state = next;
      judgedOf.push(judged);
    }
    expect(judgedOf).toEqual(['cut', 'cut', 'undone', 'grown']);
    expect(state.learnt?.perSecond).toBeCloseTo(10.3, 2);
  });

  test('of which a quarter are overloads is judged after two seconds, and each counts twice', () => {
    const measuring = afterOverload(noRate, now);
    const judged = judgedAfter({ accepted: 20, overloaded: 7 }, measuring, 2);
    expect(judged).toMatchObject({ judged: 'cut', state: { learnt: { perSecond: 8.5, ceiling: 10 } } });
    // A smaller share may be chance, of which a whole window shows less.
    expect(judgedAfter({ accepted: 20, overloaded: 3 }, measuring, 2).judged).toBe('unchanged');
    expect(judgedAfter({ accepted: 100, overloaded: 5 }, measuring).judged).toBe('cut');
    // Of four seconds, the calls of the last two are not counted yet.
    const lagging = withCounts(
      measuring,
      callsOf({ accepted: 20, overloaded: 7 }),
      now / 1_000 + 1,
      now + 4_000,
    );
    expect(learntIn(judgeCalls(lagging, undefined, now + 4_000))).toBeCloseTo(8.5);
    // Among refusals, one overload bounds the rate, too.
    const mixed = judgedAfter({ accepted: 20, refused: 5, overloaded: 1 }, measuring);
    expect(mixed).toMatchObject({ judged: 'cut', state: { learnt: { ceiling: 2 } } });
    // Fewer than 20 may be of a bank that fails, also while those that its breaker holds wait in line.
    const begun = {
      ...noCalls,
      since: now - 10_000,
      countedFrom: now / 1_000 - 1,
      countedUntil: now / 1_000 - 1,
    };
    const few = judgedAfter({ accepted: 2, overloaded: 4 }, { ...measuring, window: begun });
    expect(few).toMatchObject({ judged: 'unchanged', state: { window: { overloaded: 0 } } });
    const near = judgedAfter({ accepted: 47 }, { learnt: { perSecond: 4.75, at: now, ceiling: 5 } });
    expect(learntIn(near)).toBeCloseTo(4.75 * 1.005, 2);
  });

  test('with starts that fail at some banks shows no overload, if many pass at others', () => {
    const measuring = afterOverload(noRate, now);
    const failures = { overloaded: 10, overloadedIn: ['7'] };
    const beside = { accepted: 50, acceptedIn: { 1: 48, 7: 2 }, ...failures };
    expect(judgedAfter(beside, measuring).judged).toBe('unchanged');
    // As many fail, and all at the bank at which most pass.
    const among = { accepted: 50, acceptedIn: { 1: 2, 7: 48 }, ...failures };
    expect(judgedAfter(among, measuring).judged).toBe('cut');
  });

  describe('after a cut for overloads', () => {
    const first = judgedAfter({ accepted: 200, overloaded: 20 }, afterOverload(noRate, now)).state;
    const { learnt: cutTo, cuts } = first;
    const judgedThen = (calls: Partial<CallCounts>) => judgedAfter(calls, defined({ learnt: cutTo, cuts }));

    test('does not count the second in which starts still go that were released before', () => {
      expect(cutTo?.perSecond).toBeCloseTo(17);
      expect(first.window?.countedUntil).toBe(now / 1_000 + 11);
      const cutAt = now + 10_000;
      expect([999, 1_000].map((later) => isBeforeCut(first, cutAt + later))).toEqual([true, false]);
      expect(isBeforeCut(noRate, now)).toBe(false);
    });

    test('undoes it if as large a share fails, at whatever banks, and cuts no more for that share', () => {
      const judged = judgedThen({ accepted: 155, overloaded: 15 });
      expect(judged).toMatchObject({
        judged: 'undone',
        state: { stray: { share: expect.closeTo(20 / 220) } },
      });
      expect(judged.state).not.toHaveProperty('learnt');
      const { stray } = judged.state;
      expect(judgedAfter({ accepted: 200, overloaded: 22 }, defined({ stray })).judged).toBe('unchanged');
      expect(judgedAfter({ accepted: 200, overloaded: 60 }, defined({ stray })).judged).toBe('cut');
      const atSome = { accepted: 155, acceptedIn: { 1: 155 }, overloaded: 15, overloadedIn: ['7'] };
      expect(judgedThen(atSome).judged).toBe('undone');
    });

    test('keeps it if none fails, and lets the rate grow past it if a small share goes on failing', () => {
      expect(judgedThen({ accepted: 170 })).toMatchObject({ judged: 'grown', state: { cuts: { count: 1 } } });
      const judged = judgedThen({ accepted: 167, overloaded: 3 });
      expect(judged).toMatchObject({ judged: 'grown', state: { stray: { share: 3 / 170 } } });
      expect(judged.state.learnt).not.toHaveProperty('ceiling');
      expect(judged.state).not.toHaveProperty('cuts');
    });

    test('cuts again if the provider takes still fewer: it accepts as many as before', () => {
      const from = judgedAfter({ accepted: 20, overloaded: 180 }, { learnt: { perSecond: 20, at: now } });
      expect(learntIn(from)).toBeCloseTo(10);
      const again = judgedAfter(
        { accepted: 20, overloaded: 80 },
        defined({ learnt: from.state.learnt, cuts: from.state.cuts }),
      );
      expect(again).toMatchObject({ judged: 'cut', state: { cuts: { from: expect.closeTo(10, 1) } } });
    });
  });

  test('without any accepted start is an outage, and teaches nothing', () => {
    expect(judgedAfter({ overloaded: 20 }, afterOverload(noRate, now))).toMatchObject({
      judged: 'unchanged',
    });
  });

  test('of an hour ago is not judged with the calls of now', () => {
    const old = withCounts(noRate, callsOf({ refused: 5 }), now / 1_000 - 3_600, now - 3_600_000);
    expect(withCounts(old, callsOf({ accepted: 1 }), now / 1_000 - 1, now).window).toMatchObject({
      accepted: 1,
      refused: 0,
    });
  });
});
