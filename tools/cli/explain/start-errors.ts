import { isWhy, whys } from '../../../lib/extraction/plan.ts';

/** The error as a clause; undefined for one that start-task does not report by name, such as those of Lambda. */
export const knownStartError = (error: string): string | undefined =>
  isWhy(error) ? whys[error] : undefined;

export const describeStartError = (error: string): string =>
  knownStartError(error) ?? `start-task failed with ${error}`;
