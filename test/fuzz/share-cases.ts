import type { FuzzProperty } from './property.ts';

/** How many of `cases` each property gets, by its weight. */
export const shareCases = (
  properties: readonly FuzzProperty[],
  cases: number,
): ReadonlyMap<string, number> => {
  const weights = properties.reduce((sum, { weight }) => sum + weight, 0);
  return new Map(properties.map(({ name, weight }) => [name, Math.ceil((cases * weight) / weights)]));
};
