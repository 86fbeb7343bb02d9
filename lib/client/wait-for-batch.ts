import type { BatchSummary } from '../extraction/api/public-view.ts';
import { ignoreTransient } from './wait-for-outcome.ts';

type WaitDeps = {
  readonly summarize: (batch: string) => Promise<BatchSummary>;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called with each summary. */
  readonly onSummary?: (summary: BatchSummary) => void;
};

/** From 2 s, which the index may lag behind, doubled up to 15 s. */
const firstPause = 2_000;
const maxPause = 15_000;
/** A summary reads each record, so one of 10,000 is asked for every 30 s. */
const pauseForEach = 3;

/**
 * Whether nothing will happen without the caller: each extraction is closed, or has the advice `wait`. That of `TIMED_OUT` is open
 * until its grace is over, a day by default.
 */
export const isOver = ({ open, counts }: Pick<BatchSummary, 'open' | 'counts'>): boolean =>
  open <= counts.reduce((sum, { advice, extractions }) => (advice === 'wait' ? sum + extractions : sum), 0);

/**
 * Asks for the summary of a batch until each of its extractions has an outcome, and its results or the reason why there are none. API
 * failures that may pass are not an end. Throws ApiError for any other. To stop earlier, let `sleep` reject.
 */
export const waitForBatch = async (
  batch: string,
  { summarize, sleep, onSummary }: WaitDeps,
): Promise<BatchSummary> => {
  let size = 0;
  for (let pause = firstPause; ; pause = Math.min(2 * pause, maxPause)) {
    await sleep(Math.max(pause, size * pauseForEach));
    const summary = await summarize(batch).catch(ignoreTransient);
    if (summary === 'failed') continue;
    size = summary.extractions;
    onSummary?.(summary);
    if (isOver(summary)) return summary;
  }
};
