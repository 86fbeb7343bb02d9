/** The template's Retry of the polling state. Full jitter: each pause is uniform from 0 to its maximum. */
export type Retrier = {
  readonly IntervalSeconds: number;
  readonly BackoffRate: number;
  readonly MaxDelaySeconds?: number;
  readonly MaxAttempts: number;
  readonly JitterStrategy: 'FULL' | 'NONE';
};

const STEP_SECONDS = 0.1;

const pauseOf = (retrier: Retrier, retry: number): number =>
  Math.min(
    retrier.IntervalSeconds * retrier.BackoffRate ** retry,
    retrier.MaxDelaySeconds ?? Number.POSITIVE_INFINITY,
  );

/** The distribution of times (in steps) after one more pause, up to the last step. */
const addPause = (chances: readonly number[], most: number, hasJitter: boolean): readonly number[] => {
  const width = Math.max(1, Math.round(most / STEP_SECONDS));
  if (!hasJitter) return chances.map((_, step) => chances[step - width] ?? 0);
  // A uniform pause is a moving average over the steps before.
  let inWindow = 0;
  return chances.map((chance, step) => {
    const mean = inWindow / width + (0.5 * (chance - (chances[step - width] ?? 0))) / width;
    inWindow += chance - (chances[step - width] ?? 0);
    return mean;
  });
};

/**
 * The number of polls by the queue that find the task running: the first comes after the first interval, each next one after
 * as long as the task has run, up to the longest interval.
 */
export const pollsByQueue = (
  { IntervalSeconds, MaxDelaySeconds = Number.POSITIVE_INFINITY }: Retrier,
  taskSeconds: number,
): number => {
  let polls = 0;
  let at = IntervalSeconds;
  while (at < taskSeconds) {
    polls += 1;
    at += Math.min(Math.max(at, IntervalSeconds), MaxDelaySeconds);
  }
  return polls;
};

/**
 * The mean number of polls that find the task running. The first one is `firstSeconds` after the start, each next one a
 * pause and `pollSeconds` later, until the task ends at `taskSeconds`.
 */
export const expectedPolls = (
  retrier: Retrier,
  {
    firstSeconds,
    taskSeconds,
    pollSeconds,
  }: Readonly<Record<'firstSeconds' | 'taskSeconds' | 'pollSeconds', number>>,
): number => {
  const steps = Math.round((taskSeconds - firstSeconds) / STEP_SECONDS);
  if (steps <= 0) return 0;
  const own = Math.round(pollSeconds / STEP_SECONDS);
  let chances: readonly number[] = Array.from({ length: steps }, (_, step) => (step === 0 ? 1 : 0));
  let polls = 1;
  for (let retry = 0; retry < retrier.MaxAttempts; retry += 1) {
    const paused = addPause(chances, pauseOf(retrier, retry), retrier.JitterStrategy === 'FULL');
    chances = paused.map((_, step) => paused[step - own] ?? 0);
    const inTime = chances.reduce((sum, chance) => sum + chance, 0);
    if (inTime < 1e-6) break;
    polls += inTime;
  }
  return polls;
};
