import type { BatchSummary } from '../extraction/api/public-view.ts';
import { ignoreTransient } from './wait-for-outcome.ts';

type WaitDeps = {
  readonly summarize: (batch: string) => Promise<BatchSummary>;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly onSummary?: (summary: BatchSummary) => void;
};

/** The pause between two summaries: from 2 s, by which the index may lag, doubled up to 15 s. */
const firstPause = 2_000;
const maxPause = 15_000;
/** A summary reads each record. So a large batch is read less often: one of 10,000 every 30 s. */
const pauseForEach = 3;

/**
 * Whether nothing more happens without the caller: each extraction is closed, or has the advice `wait`. After `TIMED_OUT`, the grace lasts
 * a day by default.
 */
export const isOver = ({ open, counts }: Pick<BatchSummary, 'open' | 'counts'>): boolean =>
  open <= counts.reduce((sum, { advice, extractions }) => (advice === 'wait' ? sum + extractions : sum), 0);

/**
 * Reads the summary of a batch until each extraction has an outcome, and its results or the reason why there are none. Transient API
 * failures are retried. Throws ApiError for all others. To stop earlier, let `sleep` reject.
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
