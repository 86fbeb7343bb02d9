/** Whole numbers as they are, others by two places, or by one from 100 on. What sums of fractions leave is no fraction. */
export const figure = (value: number): string => {
  const rounded = Number(value.toFixed(6));
  return Number.isInteger(rounded) ? String(rounded) : value.toFixed(Math.abs(value) < 100 ? 2 : 1);
};
