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

/** Seconds from the request to the start, or to the outcome with its results. */
export const secondsTo = (record: Extraction | undefined, end: 'start' | 'results'): number => {
  const { requestedAt = '', startedAt, settledAt, collectedAt = settledAt } = record ?? {};
  const at = end === 'start' ? startedAt : collectedAt;
  return at === undefined ? Number.POSITIVE_INFINITY : (Date.parse(at) - Date.parse(requestedAt)) / 1_000;
};

/** NaN of none. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(share * values.length)] ?? Number.NaN;

/** Whether nobody tries to start it any more. */
export const isStartOver = (record: Extraction | undefined): boolean =>
  record !== undefined && record.status !== 'REQUESTED' && record.status !== 'STARTING';
