import { describe, expect, test } from 'vitest';
import {
  afterFailure,
  afterSuccess,
  type BreakerState,
  closedBreaker,
  electProbe,
  mayCall,
  nextProbeAt,
  pause,
  phaseOf,
  withoutProbe,
} from '../../../../lib/breaker/breaker-state.ts';
import { parseBreakerState } from '../../../../lib/breaker/breaker-store.ts';

const settings = { failures: 3, openSeconds: 30, maxOpenSeconds: 100, probeSeconds: 60 };
const second = 1_000;

/** An extraction, of a group that fails unless another is named. */
const about = (extraction: string, group = 'failing') => ({ extraction, group });

type Step = { readonly fails: string; readonly at?: number } | { readonly succeeds: string };

/** The state after calls about these extractions. */
const stateAfter = (steps: readonly Step[], from: BreakerState = closedBreaker): BreakerState =>
  steps.reduce(
    (state, step) =>
      'fails' in step
        ? afterFailure(state, { ...about(step.fails), now: (step.at ?? 0) * second }, settings)
        : afterSuccess(state, { extraction: step.succeeds }),
    from,
  );

/** Open until its first probe at 32 s. */
const open = stateAfter(['a', 'b', 'c'].map((fails, at) => ({ fails, at })));

const elect = (state: BreakerState, id: string, at: number, subject = about('other')): BreakerState =>
  electProbe(state, { id, ...subject, now: at * second }, settings);

const probing = elect(open, 'probe', 32);

const failProbe = (state: BreakerState, extraction: string, at: number, retryAt?: number): BreakerState =>
  afterFailure(
    elect(state, 'probe', at, about(extraction)),
    { ...about(extraction), now: at * second, probeId: 'probe', retryAt },
    settings,
  );

describe('a closed breaker', () => {
  test('opens when the threshold of extractions fails, however slowly, for the first pause', () => {
    const slowly = stateAfter(['a', 'b'].map((fails, index) => ({ fails, at: 1_000 * index })));
    expect(phaseOf(slowly, 1_000 * second)).toBe('closed');
    expect(phaseOf(stateAfter([{ fails: 'c', at: 2_000 }], slowly), 2_000 * second)).toBe('open');
    expect([phaseOf(open, 31 * second), phaseOf(open, 32 * second)]).toEqual(['open', 'half-open']);
  });

  test('counts one broken extraction once, however often it fails', () => {
    expect(stateAfter(Array.from({ length: 9 }, () => ({ fails: 'a' }))).count).toBe(1);
    const inBetween = stateAfter([{ fails: 'a' }, { succeeds: 'b' }, { fails: 'a' }]);
    expect(inBetween.count).toBe(0);
  });

  test('counts an extraction again that succeeded in between', () => {
    expect(stateAfter([{ fails: 'a' }, { succeeds: 'a' }, { fails: 'a' }])).toEqual({
      count: 1,
      failing: ['a'],
    });
  });

  test('subtracts each success, and never counts below 0', () => {
    expect(stateAfter([{ fails: 'a' }, { fails: 'b' }, { succeeds: 'c' }]).count).toBe(1);
    expect(stateAfter([{ succeeds: 'a' }, { succeeds: 'b' }, { fails: 'c' }]).count).toBe(1);
  });

  test('is not changed by a success while nothing is counted', () => {
    expect(afterSuccess(closedBreaker, { extraction: 'a' })).toBe(closedBreaker);
  });

  test('is not opened by one failure with Retry-After, which only lengthens the pause, up to the longest', () => {
    const failure = { ...about('a'), now: 0, retryAt: 3_600 * second };
    expect(phaseOf(afterFailure(closedBreaker, failure, settings), 0)).toBe('closed');
    const two = stateAfter([{ fails: 'b' }, { fails: 'c' }]);
    const untilAfter = (retryAt: number) =>
      afterFailure(two, { ...failure, retryAt }, settings).opened?.groups.failing?.until;
    expect([7, 90, 3_600].map((at) => untilAfter(at * second))).toEqual([30, 90, 100].map((s) => s * second));
  });

  test('remembers a bounded number of failing extractions', () => {
    const many = stateAfter(
      Array.from({ length: 300 }, (_, index) => [{ fails: `${index}` }, { succeeds: 'x' }]).flat(),
    );
    expect(many.failing).toHaveLength(200);
    expect(many.failing.at(-1)).toBe('299');
  });
});

describe('an open breaker', () => {
  test('is not prolonged by calls that were under way when it opened', () => {
    expect(stateAfter([{ fails: 'd', at: 20 }], open)).toBe(open);
  });

  test('is prolonged for their group by Retry-After, up to the longest pause from now', () => {
    const prolonged = (retryAt: number) =>
      afterFailure(open, { ...about('d'), now: 20 * second, retryAt: retryAt * second }, settings);
    expect(prolonged(50).opened?.groups.failing?.until).toBe(50 * second);
    expect(prolonged(3_600).opened?.groups.failing?.until).toBe(120 * second);
    expect(prolonged(25)).toBe(open);
  });

  test('elects no probe before its pause is over', () => {
    expect(elect(open, 'probe', 31)).toBe(open);
  });

  test('closes after the success of a call that had counted as too slow, or was made in spite of it', () => {
    expect(afterSuccess(open, { extraction: 'a', closes: true })).toEqual({ count: 0, failing: ['b', 'c'] });
    expect(afterSuccess(open, { extraction: 'a' })).toBe(open);
  });
});

describe('a half-open breaker', () => {
  test('admits one probe, and nothing else while that may still run', () => {
    expect(mayCall(open, about('other'), 32 * second)).toBe('as-probe');
    expect(probing.opened?.probe?.id).toBe('probe');
    expect(mayCall(probing, about('other'), 33 * second)).toBe('no');
    expect(elect(probing, 'another', 33)).toBe(probing);
  });

  test('elects another probe when the first must have ended', () => {
    expect(mayCall(probing, about('other'), 91_999)).toBe('no');
    expect(elect(probing, 'another', 92).opened?.probe?.id).toBe('another');
  });

  test('takes no extraction as the probe whose last call failed, unless no other came for one pause', () => {
    expect(mayCall(open, about('a'), 61_999)).toBe('no');
    expect(mayCall(open, about('a'), 62 * second)).toBe('as-probe');
    const failed = failProbe(open, 'd', 32);
    expect([mayCall(failed, about('d'), 62 * second), mayCall(failed, about('e'), 62 * second)]).toEqual([
      'no',
      'as-probe',
    ]);
  });

  test('closes after a successful probe, and counts from zero', () => {
    expect(afterSuccess(probing, { extraction: 'a', probeId: 'probe' })).toEqual({
      count: 0,
      failing: ['b', 'c'],
    });
  });

  test('ignores the results of a probe that was replaced', () => {
    const replaced = elect(probing, 'another', 92);
    expect(afterSuccess(replaced, { extraction: 'a', probeId: 'probe' })).toBe(replaced);
    expect(withoutProbe(replaced, 'probe')).toBe(replaced);
    const failure = { ...about('a'), now: 93 * second, probeId: 'probe' };
    expect(afterFailure(replaced, failure, settings)).toBe(replaced);
  });

  test('doubles its pause only after the probes of two extractions failed, up to the longest', () => {
    const pauses: number[] = [];
    let state = open;
    for (const extraction of ['d', 'e', 'f', 'g']) {
      const now = (state.opened?.groups.failing?.until ?? 0) / second;
      state = failProbe(state, extraction, now);
      pauses.push((state.opened?.groups.failing?.until ?? 0) / second - now);
    }
    expect(pauses).toEqual([30, 60, 100, 100]);
    expect(state.opened?.since).toBe(2 * second);
    // The same extraction comes again only after one more pause.
    const again = failProbe(failProbe(open, 'd', 32), 'd', 92);
    expect(again.opened?.groups.failing?.seconds).toBe(30);
  });

  test('doubles no pause because of failed logins, which change nothing', () => {
    const failed = ['d', 'e', 'f'].reduce((state, extraction, index) => {
      const probe = { ...about(extraction), now: (32 + 30 * index) * second };
      const elected = electProbe(state, { id: 'probe', ...probe }, settings);
      return afterFailure(elected, { ...probe, probeId: 'probe', isPreparation: true }, settings);
    }, open);
    expect(failed.opened?.groups).toEqual({ failing: { until: 122 * second, seconds: 30 } });
  });

  test('makes only the groups wait for longer pauses whose calls failed while it is open', () => {
    const twice = failProbe(failProbe(open, 'd', 32), 'e', 62, 3_600 * second);
    expect(twice.opened).toMatchObject({ until: 92 * second, groups: { failing: { until: 162 * second } } });
    expect([91, 92].map((at) => mayCall(twice, about('healthy', 'other'), at * second))).toEqual([
      'no',
      'as-probe',
    ]);
    expect([161, 162].map((at) => mayCall(twice, about('f'), at * second))).toEqual(['no', 'as-probe']);
    // The first failure of another group begins with the first pause.
    const another = { ...about('g', 'also failing'), now: 92 * second, probeId: 'probe' };
    const three = afterFailure(elect(twice, 'probe', 92, another), another, settings);
    expect(three.opened?.groups).toMatchObject({
      failing: { until: 162 * second, seconds: 60 },
      'also failing': { until: 122 * second, seconds: 30 },
    });
    expect([open, twice, three].map(({ opened }) => opened && nextProbeAt(opened) / second)).toEqual([
      32, 162, 122,
    ]);
  });

  test('elects another probe at once if the first showed nothing', () => {
    const state = withoutProbe(probing, 'probe');
    expect(state).toEqual(open);
    expect(mayCall(state, about('other'), 33 * second)).toBe('as-probe');
  });
});

describe('a paused breaker', () => {
  const paused = pause(open, 'maintenance', 10 * second);

  test('admits neither calls nor probes, however long', () => {
    expect(phaseOf(paused, 1e12)).toBe('paused');
    expect(mayCall(paused, about('other'), 1e12)).toBe('no');
    expect(elect(paused, 'probe', 1e9)).toBe(paused);
  });

  test('stays paused when a probe that was under way succeeds, or when failures open the breaker', () => {
    const held = pause(probing, 'maintenance', 33 * second);
    const ended = afterSuccess(held, { extraction: 'a', probeId: 'probe' });
    expect(ended).toEqual({ count: 0, failing: ['b', 'c'], paused: held.paused });
    const opened = stateAfter([{ fails: 'a' }, { fails: 'b' }, { fails: 'c' }], pause(closedBreaker, 'x', 0));
    expect([opened.opened !== undefined, opened.paused]).toEqual([true, { since: 0, reason: 'x' }]);
  });
});

describe('the cause of an open breaker', () => {
  const fail = (state: BreakerState, extraction: string, cause?: string, probeId?: string): BreakerState =>
    afterFailure(state, { ...about(extraction), now: 40 * second, cause, probeId }, settings);

  test('is that of the failure that opened it, then of the last probe, and absent if that is not known', () => {
    const opened = fail(stateAfter([{ fails: 'a' }, { fails: 'b' }]), 'c', 'http-503');
    expect(opened.opened?.cause).toBe('http-503');
    // A call that was under way when it opened.
    expect(fail(opened, 'd', 'ECONNRESET')).toBe(opened);
    const again = elect({ ...opened, opened: { ...open.opened, cause: 'http-503' } as never }, 'probe', 40);
    expect(fail(again, 'e', 'slow', 'probe').opened?.cause).toBe('slow');
    expect(fail(again, 'e', undefined, 'probe').opened).not.toHaveProperty('cause');
  });

  test.each(['<b>', '', 'x'.repeat(41), 503, null, undefined])(
    'is absent where %o is stored, and the breaker stays open',
    (cause) => {
      const stored = { ...open, opened: { ...open.opened, cause } };
      expect(parseBreakerState(stored, 0)).toEqual({ state: open, isDamaged: false });
    },
  );

  test('is read where it is a code', () => {
    const stored = { ...open, opened: { ...open.opened, cause: 'http-503' } };
    expect(parseBreakerState(stored, 0).state).toEqual(stored);
  });
});
