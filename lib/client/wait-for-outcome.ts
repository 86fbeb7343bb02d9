import type { PublicExtraction } from '../extraction/api/public-view.ts';
import { ApiError, NoAnswerError } from './api-errors.ts';

type WaitDeps = {
  readonly get: (extractionId: string) => Promise<PublicExtraction | undefined>;
  readonly sleep: (milliseconds: number) => Promise<void>;
};

/** The pause between two reads: from 1 s, doubled up to 15 s. Extractions take seconds to hours, and each read is billed. */
const firstPause = 1_000;
const maxPause = 15_000;

/** This caller has no such extraction. */
export class NoSuchExtractionError extends Error {
  override readonly name = 'NoSuchExtractionError';

  constructor(extractionId: string) {
    super(`There is no extraction ${extractionId}, or it belongs to another caller.`);
  }
}

/**
 * Reads an extraction until it has an outcome whose `advice` is final, with its results or the reason why there are none. Transient API
 * failures are retried. Throws ApiError for all others, and NoSuchExtractionError. To stop earlier, let `sleep` reject.
 */
export const waitForOutcome = async (
  extractionId: string,
  { get, sleep }: WaitDeps,
): Promise<PublicExtraction> => {
  for (let pause = firstPause; ; pause = Math.min(2 * pause, maxPause)) {
    const read = await get(extractionId).catch(ignoreTransient);
    if (read === undefined) throw new NoSuchExtractionError(extractionId);
    if (read !== 'failed' && isComplete(read)) return read;
    await sleep(pause);
  }
};

/** For a loop that retries. Throws all other errors. */
export const ignoreTransient = (error: unknown): 'failed' => {
  if (error instanceof NoAnswerError || (error instanceof ApiError && error.isTransient)) return 'failed';
  throw error;
};

/** For these statuses, the advice may still change with the results, or the reason why there are none (docs/stream.md, "Advice"). */
const withResults: readonly string[] = ['COMPLETED', 'PARTIAL', 'FAILED'];

/** `TIMED_OUT` has the advice `wait` until its grace is over. */
const isComplete = (read: PublicExtraction): boolean => {
  const { status, settledAt, advice, collectedAt, collectionError } = read;
  if (settledAt === undefined || advice === undefined || advice === 'wait') return false;
  return !withResults.includes(status) || collectedAt !== undefined || collectionError !== undefined;
};
