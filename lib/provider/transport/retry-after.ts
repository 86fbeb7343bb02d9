/** The header `Retry-After` of an answer (RFC 9110, section 10.2.3): a delay or a date. */
export type RetryAfter =
  | { readonly kind: 'delay'; readonly seconds: number }
  /** In milliseconds of the epoch. */
  | { readonly kind: 'date'; readonly at: number };

/**
 * The longest wait that is honoured, in seconds. A planned maintenance takes minutes. A longer value is probably a mistake, and must not
 * stop calls for days.
 */
const maxRetryAfterSeconds = 3_600;

/** Parses the header. Returns undefined for a missing or malformed one. */
export const parseRetryAfter = (header: string | null | undefined): RetryAfter | undefined => {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return { kind: 'delay', seconds: Number(text) };
  // Every form of an HTTP date starts with the name of a day, while Date.parse also accepts "5.5". The asctime form has no zone and is in
  // GMT, but Date.parse reads it as local time (RFC 9110, section 5.6.7).
  const inGmt = /(GMT|UTC|[+-]\d{4})$/.test(text) ? text : `${text} GMT`;
  const at = /^[A-Za-z]{3}/.test(text) ? Date.parse(inGmt) : Number.NaN;
  return Number.isNaN(at) ? undefined : { kind: 'date', at };
};

/** The time before which no call may be made, in milliseconds of the epoch. Undefined if it has passed. */
export const retryAtOf = (retryAfter: RetryAfter | undefined, now: Date): number | undefined => {
  if (retryAfter === undefined) return undefined;
  const at = retryAfter.kind === 'date' ? retryAfter.at : now.getTime() + retryAfter.seconds * 1_000;
  if (at <= now.getTime()) return undefined;
  return Math.min(at, now.getTime() + maxRetryAfterSeconds * 1_000);
};
