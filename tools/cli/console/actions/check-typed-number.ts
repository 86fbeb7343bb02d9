import { CliError } from '../../terminal/errors.ts';

type Confirmed = {
  readonly count: number;
  /** The count in words, such as `3 extractions match`. */
  readonly now: string;
  readonly max: number;
  /** What would be done, such as `erased`. */
  readonly done: string;
};

/**
 * What is done to all that match a filter is confirmed by their number, so that nothing is done to more than was shown.
 * @throws {CliError} if another number was typed, or they are too many at once
 */
export const checkTypedNumber = (typed: string, { count, now, max, done }: Confirmed): void => {
  if (typed !== String(count)) {
    throw new CliError(`${now} now, and another number was typed. Nothing was ${done}.`);
  }
  if (count > max) {
    throw new CliError(`At most ${max} are ${done} at once. Narrow the filter. Nothing was ${done}.`);
  }
};
