import { accountFrom, amountFrom, numberFrom } from './synthetic.ts';

/** The item of the document's sample ("Product data item shapes"). */
export type MovementItem = {
  readonly date: string;
  readonly amount: number;
  readonly currency: string;
  readonly originAccount: string;
  readonly destinationAccount: string;
};

/** The date of the oldest movement. Ranges are adjusted to it and to today ("Limits"). */
const OLDEST = '2020-01-01';
const DAY_MS = 24 * 60 * 60 * 1000;

/** A movement for about every second day of the range, oldest first. */
export const movementOutput = (
  username: string,
  dateRange: { readonly startDate: string; readonly endDate: string } | undefined,
  at: number,
): MovementItem[] => {
  const today = new Date(at).toISOString().slice(0, 10);
  const first = laterOf(OLDEST, dateRange?.startDate ?? OLDEST);
  const last = earlierOf(today, dateRange?.endDate ?? today);
  return daysBetween(first, last)
    .filter((date) => numberFrom(2, 'movement', username, date) === 0)
    .map((date) => movementOn(username, date));
};

export const movementOn = (username: string, date: string): MovementItem => ({
  date,
  amount: amountFrom(username, date),
  currency: 'CLP',
  originAccount: accountFrom(username),
  destinationAccount: accountFrom(username, date),
});

// Dates as YYYY-MM-DD sort as text.
const laterOf = (one: string, other: string) => (one > other ? one : other);
const earlierOf = (one: string, other: string) => (one < other ? one : other);

const daysBetween = (first: string, last: string): string[] => {
  const from = Date.parse(first);
  const days = Math.floor((Date.parse(last) - from) / DAY_MS) + 1;
  return Array.from({ length: Math.max(0, days) }, (_, index) =>
    new Date(from + index * DAY_MS).toISOString().slice(0, 10),
  );
};
