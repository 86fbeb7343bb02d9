import { describe, expect, test } from 'vitest';
import {
  afterFailure,
  afterProbe,
  afterSuccess,
  type BreakerState,
  closedBreaker,
  electProbe,
  mayCall,
  pause,
  phaseOf,
  withoutProbe,
} from '../../../../lib/breaker/breaker-state.ts';

const settings = { failures: 3, windowSeconds: 30, openSeconds: 30, maxOpenSeconds: 100, probeSeconds: 60 };
const second = 1_000;

const failing = (times: readonly number[], from: BreakerState = closedBreaker): BreakerState =>
  times.reduce((state, at) => afterFailure(state, { now: at * second }, settings), from);

/** Open until its first probe at 32 s. */
const open = failing([0, 1, 2]);

const probing = (id = 'probe', at = 32): BreakerState => electProbe(open, id, at * second, settings);

describe('a closed breaker', () => {
  test('admits calls while fewer failures than the threshold are in the window', () => {
    expect(mayCall(failing([0, 1]), 2 * second)).toBe('yes');
  });

  test('opens at the threshold, for the first pause', () => {
    expect(phaseOf(open, 31 * second)).toBe('open');
    expect(mayCall(open, 31 * second)).toBe('no');
    expect(phaseOf(open, 32 * second)).toBe('half-open');
  });

  test('opens at the threshold of failures in a row, however slowly they come', () => {
    expect(phaseOf(failing([0, 1_000]), 1_000 * second)).toBe('closed');
    expect(phaseOf(failing([0, 1_000, 2_000]), 2_000 * second)).toBe('open');
  });

  test('counts a success only against failures in a row, not against those within the window', () => {
    const slow = afterSuccess(failing([0, 1_000]));
    expect(phaseOf(failing([2_000], slow), 2_000 * second)).toBe('closed');
    const fast = afterSuccess(failing([0, 1]));
    expect(phaseOf(failing([2], fast), 2 * second)).toBe('open');
  });

  test('is not changed by a success without a failure before it', () => {
    expect(afterSuccess(closedBreaker)).toBe(closedBreaker);
  });

  test('forgets failures that are older than the window', () => {
    const spread = afterSuccess(failing([0, 1]));
    expect(failing([31], spread).failures).toEqual([31 * second]);
    expect(phaseOf(failing([31], spread), 31 * second)).toBe('closed');
  });

  test('opens at one failure that names a time to retry at, until that time', () => {
    const state = afterFailure(closedBreaker, { now: 0, retryAt: 7 * second }, settings);
    expect(phaseOf(state, 6_999)).toBe('open');
    expect(phaseOf(state, 7 * second)).toBe('half-open');
  });

  test('waits for the later of its pause and the time to retry at', () => {
    const longer = afterFailure(failing([0, 1]), { now: 2 * second, retryAt: 90 * second }, settings);
    const shorter = afterFailure(failing([0, 1]), { now: 2 * second, retryAt: 3 * second }, settings);
    expect([longer.opened?.until, shorter.opened?.until]).toEqual([90 * second, 32 * second]);
  });
});

describe('an open breaker', () => {
  test('is not prolonged by calls that were under way when it opened', () => {
    expect(afterFailure(open, { now: 20 * second }, settings)).toBe(open);
  });

  test('is prolonged by a later time to retry at', () => {
    const state = afterFailure(open, { now: 20 * second, retryAt: 50 * second }, settings);
    expect(state.opened?.until).toBe(50 * second);
    expect(afterFailure(state, { now: 21 * second, retryAt: 40 * second }, settings)).toBe(state);
  });

  test('elects no probe before its pause is over', () => {
    expect(electProbe(open, 'probe', 31 * second, settings)).toBe(open);
  });
});

describe('a half-open breaker', () => {
  test('admits one probe, and nothing else while that may still run', () => {
    expect(mayCall(open, 32 * second)).toBe('as-probe');
    expect(probing().opened?.probe?.id).toBe('probe');
    expect(mayCall(probing(), 33 * second)).toBe('no');
    expect(electProbe(probing(), 'another', 33 * second, settings)).toEqual(probing());
  });

  test('elects another probe when the first must have ended', () => {
    expect(mayCall(probing(), 91_999)).toBe('no');
    expect(electProbe(probing(), 'another', 92 * second, settings).opened?.probe?.id).toBe('another');
  });

  test('closes after a successful probe, and counts from zero', () => {
    expect(afterProbe(probing(), 'probe')).toEqual(closedBreaker);
  });

  test('ignores the results of a probe that was replaced', () => {
    const replaced = electProbe(probing(), 'another', 92 * second, settings);
    expect(afterProbe(replaced, 'probe')).toBe(replaced);
    expect(withoutProbe(replaced, 'probe')).toBe(replaced);
    expect(afterFailure(replaced, { now: 93 * second, probeId: 'probe' }, settings)).toBe(replaced);
  });

  test('doubles its pause after each failed probe, up to the longest', () => {
    let state = open;
    const pauses: number[] = [];
    for (let now = 32 * second; pauses.length < 4; now = state.opened?.until ?? 0) {
      const probed = electProbe(state, 'probe', now, settings);
      state = afterFailure(probed, { now, probeId: 'probe' }, settings);
      pauses.push((state.opened?.until ?? 0) - now);
    }
    expect(pauses).toEqual([60, 100, 100, 100].map((seconds) => seconds * second));
    expect(state.opened?.since).toBe(2 * second);
  });

  test('elects another probe at once if the first showed nothing', () => {
    const state = withoutProbe(probing(), 'probe');
    expect(state).toEqual(open);
    expect(mayCall(state, 33 * second)).toBe('as-probe');
  });
});

describe('a paused breaker', () => {
  const paused = pause(open, 'maintenance', 10 * second);

  test('admits neither calls nor probes, however long', () => {
    expect(phaseOf(paused, 1e12)).toBe('paused');
    expect(mayCall(paused, 1e12)).toBe('no');
    expect(electProbe(paused, 'probe', 1e12, settings)).toBe(paused);
  });

  test('stays paused when a probe that was under way succeeds', () => {
    const state = afterProbe(pause(probing(), 'maintenance', 33 * second), 'probe');
    expect(state).toEqual({ failures: [], paused: { since: 33 * second, reason: 'maintenance' } });
  });
});
