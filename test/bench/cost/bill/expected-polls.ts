import { randomOf } from '../../../support/data/random.ts';

/** The template's Retry of the polling state. Its pauses have full jitter: each is uniform from 0 to its maximum. */
export type Retrier = {
  readonly IntervalSeconds: number;
  readonly BackoffRate: number;
  readonly MaxDelaySeconds: number;
  readonly MaxAttempts: number;
};

/** So many that the mean varies by 0.002 of 14 polls. */
const runs = 1_000_000;

/**
 * The mean number of polls of the machine that find the task running, over many random runs. The first poll is at 0, each
 * next one a pause and `pollSeconds` later, until the task ends at `taskSeconds`.
 */
export const pollsByMachine = (
  { IntervalSeconds, BackoffRate, MaxDelaySeconds, MaxAttempts }: Retrier,
  taskSeconds: number,
  pollSeconds: number,
): number => {
  const random = randomOf(1);
  let polls = 0;
  for (let run = 0; run < runs; run += 1) {
    let maxPause = IntervalSeconds;
    for (let at = 0, retry = 0; at < taskSeconds && retry <= MaxAttempts; retry += 1) {
      polls += 1;
      at += pollSeconds + random.next() * maxPause;
      maxPause = Math.min(maxPause * BackoffRate, MaxDelaySeconds);
    }
  }
  return polls / runs;
};

/**
 * The number of polls by the queue that find the task running: the first comes after the first interval, each next one after
 * as long as the task has run, up to the longest interval.
 */
export const pollsByQueue = ({ IntervalSeconds, MaxDelaySeconds }: Retrier, taskSeconds: number): number => {
  let polls = 0;
  for (let at = IntervalSeconds; at < taskSeconds; at += Math.min(at, MaxDelaySeconds)) polls += 1;
  return polls;
};
