/** Formats a number: integers as they are, others with two decimals, from 100 on with one. Ignores rounding errors. */
export const figure = (value: number): string => {
  const rounded = Number(value.toFixed(6));
  return Number.isInteger(rounded) ? String(rounded) : value.toFixed(Math.abs(value) < 100 ? 2 : 1);
};
