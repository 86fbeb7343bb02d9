import type { Extraction, StoredResults } from '../../../lib/extraction/record.ts';
import { CliError } from '../terminal/errors.ts';

/** Where the results are. Throws CliError where there are none, or none yet. */
export const requireResults = (record: Extraction): StoredResults => {
  const { extractionId, status, results, collectionError, dueShard } = record;
  if (results !== undefined) return results;
  if (dueShard !== undefined) {
    throw new CliError(`${extractionId} is ${status} and still open. Its results are not collected yet.`);
  }
  throw new CliError(
    collectionError === undefined
      ? `${extractionId} is closed as ${status}, without results.`
      : `${extractionId} is closed as ${status}. Its results were not collected: ${collectionError}.`,
  );
};
