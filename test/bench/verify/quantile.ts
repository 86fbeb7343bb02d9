/** The value below which that share of the values lies, 0 to 1; NaN of none. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.round((values.length - 1) * share)] ?? Number.NaN;
