import { describe, expect, it } from 'vitest';
import { expectedPolls, type Retrier } from '../../../../bench/cost/bill/expected-polls.ts';
import { randomOf } from '../../../../support/random.ts';

const retrier: Retrier = {
  IntervalSeconds: 5,
  BackoffRate: 2,
  MaxDelaySeconds: 120,
  MaxAttempts: 139,
  JitterStrategy: 'FULL',
};
const steady: Retrier = { ...retrier, BackoffRate: 1, JitterStrategy: 'NONE' };

/** The same by chance: the mean of many runs. */
const simulated = (one: Retrier, taskSeconds: number, pollSeconds: number): number => {
  const random = randomOf(1);
  const runs = 20_000;
  let polls = 0;
  for (let run = 0; run < runs; run += 1) {
    let at = 0;
    for (let retry = 0; at < taskSeconds && retry <= one.MaxAttempts; retry += 1) {
      polls += 1;
      const most = Math.min(
        one.IntervalSeconds * one.BackoffRate ** retry,
        one.MaxDelaySeconds ?? Number.MAX_VALUE,
      );
      at += pollSeconds + random.next() * most;
    }
  }
  return polls / runs;
};

describe('the polls that find a task running', () => {
  it('are none if it ends before the first', () => {
    expect(expectedPolls(retrier, { firstSeconds: 600, taskSeconds: 60, pollSeconds: 0.4 })).toBe(0);
  });

  it('come at every interval without jitter', () => {
    expect(expectedPolls(steady, { firstSeconds: 0, taskSeconds: 60, pollSeconds: 0 })).toBeCloseTo(12, 5);
  });

  it('are fewer if each takes longer', () => {
    // At 0, 10, … 50 s.
    expect(expectedPolls(steady, { firstSeconds: 0, taskSeconds: 60, pollSeconds: 5 })).toBeCloseTo(6, 5);
  });

  it('are at most as many as the tries', () => {
    const once = { ...steady, MaxAttempts: 1 };
    expect(expectedPolls(once, { firstSeconds: 0, taskSeconds: 60, pollSeconds: 0 })).toBeCloseTo(2, 5);
  });

  it('are half a poll more if the pause is too long half of the time', () => {
    const once = { ...retrier, MaxAttempts: 1 };
    const polls = expectedPolls(once, { firstSeconds: 0, taskSeconds: 2.5, pollSeconds: 0 });
    expect(polls).toBeCloseTo(1.5, 1);
  });

  it.each([60, 300, 600])('are on average as many as %i s of them by chance', (taskSeconds) => {
    const polls = expectedPolls(retrier, { firstSeconds: 0, taskSeconds, pollSeconds: 0.4 });
    expect(polls / simulated(retrier, taskSeconds, 0.4)).toBeCloseTo(1, 1);
  });
});
