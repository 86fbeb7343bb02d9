import { retryAtOfStatus } from '../provider/transport/errors.ts';

const isoOf = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

/**
 * Before when the provider asked for no other call about this extraction, as an ISO time. A 429 may be about one user
 * ("process already running"), and a 503 about one task. So each delays its own extraction, by the whole time.
 */
export const notBeforeOf = (error: unknown, now: Date): string | undefined =>
  isoOf(retryAtOfStatus(error, [429, 503], now));

/** The same for a start call or a call for a token. A 503 is ignored here: it concerns all extractions, and the breaker waits for it. */
export const busyUntil = (error: unknown, now: Date): string | undefined =>
  isoOf(retryAtOfStatus(error, [429], now));
