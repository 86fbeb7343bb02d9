import type { Extraction } from '#lib/extraction/record.ts';

/** What a consumer gets of an extraction: how it ended, and which results. Times and ids of tries are left out. */
export const outcomeOf = (record: Extraction | undefined): string => {
  if (record === undefined) return 'not recorded';
  const { status, reason, collectionError, results, dueShard } = record;
  const end = [status, reason, collectionError, results?.sha256]
    .filter((part) => part !== undefined)
    .join(', ');
  return dueShard === undefined ? end : `open as ${end}`;
};

/** Seconds from the request to the outcome with its results. */
export const secondsOf = ({ requestedAt, settledAt, collectedAt = settledAt }: Extraction): number =>
  collectedAt === undefined
    ? Number.POSITIVE_INFINITY
    : (Date.parse(collectedAt) - Date.parse(requestedAt)) / 1_000;
