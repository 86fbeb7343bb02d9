import { scaleQuantile } from 'd3-scale';

/** The lower quartile, the median and the upper quartile, interpolated. Throws RangeError without values. */
export const quartiles = (values: readonly number[]): readonly [number, number, number] => {
  if (values.length === 0) throw new RangeError('Quartiles need at least one value.');
  const [lower = 0, middle = 0, upper = 0] = scaleQuantile(values, [1, 2, 3, 4]).quantiles();
  return [lower, middle, upper];
};
