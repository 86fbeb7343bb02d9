import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Member } from './population.ts';
import type { Service } from './service.ts';

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

/** Whether an extraction has ended as its task has, with its results. */
export const isLost = (service: Service, { extractionId }: Member): boolean => {
  const record = service.extractions.get(extractionId);
  return record?.status !== 'COMPLETED' || record.results === undefined;
};
