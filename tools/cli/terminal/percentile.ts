/** The nearest rank: the smallest value that at least this share of the values do not exceed. 0 without values. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
