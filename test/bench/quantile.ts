/**
 * The quantile of the values for a share from 0 to 1, interpolated between two of them. Throws RangeError if there are no
 * values.
 */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (sorted.length - 1) * share;
  const [lower, upper] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (lower === undefined || upper === undefined)
    throw new RangeError('A quantile needs at least one value.');
  return lower + (upper - lower) * (at - Math.floor(at));
};

/** The middle value, or the mean of the two middle values. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);
