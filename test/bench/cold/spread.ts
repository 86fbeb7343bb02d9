/** The middle of many measurements, and between what the middle half of them lies. */
export type Spread = { readonly median: number; readonly quarter: number; readonly threeQuarters: number };

export const spreadOf = (values: readonly number[]): Spread => {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { median: at(0.5), quarter: at(0.25), threeQuarters: at(0.75) };
};
