const unitSeconds: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3_600, d: 86_400 };

/** Seconds in a duration such as `90s`, `15min`, `2h` or `1d`, or undefined for another text. */
export const parseDuration = (text: string): number | undefined => {
  const [, count, unit = ''] = /^(\d{1,6})(s|min|h|d)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unitSeconds[unit] ?? 0);
};

/**
 * The point in time that a text such as `2h` or `2026-11-22T08:00:00Z` means, at a given `now`. `text`: as it was typed. `note`: which zone
 * was taken, of a time that names none.
 */
export type Since = { (now: Date): Date; readonly text?: string; readonly note?: string };

/**
 * A duration before now, or an ISO 8601 time. One without a zone is in UTC, as is all that is printed: JavaScript would take a day as UTC,
 * and a time of day as that of this machine. Undefined for another text.
 */
export const parseSince = (text: string): Since | undefined => {
  const seconds = parseDuration(text);
  if (seconds !== undefined) {
    return Object.assign((now: Date) => new Date(now.getTime() - seconds * 1_000), { text });
  }
  const [, day = '', timeOfDay = '', zone] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ]([\d:.]+?)(Z|[+-]\d{2}:?\d{2})?)?$/i.exec(text) ?? [];
  const time = new Date(`${day}T${timeOfDay || '00:00'}${(zone ?? 'Z').toUpperCase()}`);
  if (Number.isNaN(time.getTime())) return undefined;
  const note = zone === undefined ? `${text} is taken as UTC: ${time.toISOString()}.` : undefined;
  return Object.assign(() => time, { text }, note === undefined ? {} : { note });
};
