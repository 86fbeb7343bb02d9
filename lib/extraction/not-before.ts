import { retryAtOfStatus } from '../provider/transport/errors.ts';

const isoOf = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

/**
 * The time before which no call about this extraction may be made, as an ISO time, if the provider asked for that. A 429 may be about one
 * user ("process already running"), and a 503 about one task. So each delays its own extraction by the whole time.
 */
export const notBeforeOfRead = (error: unknown, now: Date): string | undefined =>
  isoOf(retryAtOfStatus(error, [429, 503], now));

/** The same for a start call or a call for a token. A 503 is ignored, because it concerns all extractions, and the breaker waits for it. */
export const notBeforeOfBusy = (error: unknown, now: Date): string | undefined =>
  isoOf(retryAtOfStatus(error, [429], now));
