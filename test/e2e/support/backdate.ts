import { inject } from 'vitest';
import { moveTimesIn, type Times } from '../../support/aws/move-times.ts';
import { aws } from './aws.ts';

const { ExtractionsTableName = '' } = inject('cosecha').outputs;

/** Sets times of a record. Returns false, and sets none, if the record lacks one of them. */
export const moveTimes = (extractionId: string, times: Times): Promise<boolean> =>
  moveTimesIn(aws.dynamo, ExtractionsTableName, extractionId, times);

/** Longer than any time limit but collectForSeconds and graceSeconds, which are a day. */
const HOUR_MS = 3_600_000;

/**
 * Moves a time of a record an hour into the past, as if the hour had passed. `requestedAt` ends the start window,
 * `startingAt` makes the start attempt stale, `settledAt` ends the machine's time for collecting.
 */
export const backdate = async (
  extractionId: string,
  name: 'requestedAt' | 'startingAt' | 'settledAt',
): Promise<void> => {
  const moved = await moveTimes(extractionId, { [name]: new Date(Date.now() - HOUR_MS).toISOString() });
  if (!moved) throw new Error(`${extractionId} has no ${name}.`);
};
