import type { Extraction, StoredResults } from '../record.ts';
import { plusSeconds } from '../timings.ts';

/**
 * The results of a record while the bucket still keeps them. Its lifecycle rule removes them up to a day or two
 * after `retentionDays`, and a URL to what is gone would only say "forbidden".
 */
export const availableResults = (
  { results, collectedAt }: Pick<Extraction, 'results' | 'collectedAt'>,
  now: Date,
  retentionDays: number,
): StoredResults | undefined => {
  if (results === undefined || collectedAt === undefined) return undefined;
  return now.toISOString() < plusSeconds(collectedAt, retentionDays * 86_400) ? results : undefined;
};
