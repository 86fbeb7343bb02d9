import { setTimeout as delay } from 'node:timers/promises';
import {
  ProviderAmbiguous,
  ProviderBusy,
  ProviderExtractionFailed,
  ProviderUnreachable,
  WaitTimedOut,
} from './errors.ts';
import type { Connection } from './send-request.ts';

export type WaitOptions = {
  /** Ends the wait at once, a poll under way included; its `reason` is thrown. The task goes on. */
  readonly signal?: AbortSignal;
  /** The longest wait, in milliseconds. */
  readonly deadlineMs?: number;
  /** The pause after the first poll; each pause is half as long again, up to `maxDelayMs`. Milliseconds. */
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  /** Resolves after so many milliseconds, and rejects when the signal aborts. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now?: () => Date;
};

/** A task takes seconds to minutes. Ten of them, with pauses from 1 s to 15 s, are some 45 polls. */
const defaults = { deadlineMs: 600_000, firstDelayMs: 1_000, maxDelayMs: 15_000 };
const growth = 1.5;

const sleepFor = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, signal === undefined ? {} : { signal });

/** These say that a call was not carried out, and so does any 5xx of a gateway; its body may have an `errorType`. */
const passingStatuses: readonly number[] = [408, 425, 429];

/** What passes by itself, on a call that only reads: the next poll may do better. */
const isPassing = (error: unknown): boolean =>
  error instanceof ProviderBusy ||
  error instanceof ProviderUnreachable ||
  error instanceof ProviderAmbiguous ||
  (error instanceof ProviderExtractionFailed &&
    (error.status >= 500 || passingStatuses.includes(error.status)));

/** The same connection, whose calls end with the signal and by the deadline. */
const bounded = (connection: Connection, signal: AbortSignal | undefined, restMs: number): Connection => ({
  ...connection,
  totalTimeoutMs: Math.min(connection.totalTimeoutMs, Math.ceil(restMs)),
  ...(signal === undefined
    ? {}
    : {
        fetch: (url, init) =>
          connection.fetch(url, { ...init, signal: AbortSignal.any([init.signal, signal]) }),
      }),
});

/**
 * Polls until `poll` gives something else than undefined. A poll that finds the provider busy, unreachable or
 * unintelligible counts as one that did not happen. Throws the signal's reason, WaitTimedOut at the deadline,
 * and at once whatever else `poll` throws.
 */
export const waitUntil = async <T extends object>(
  connection: Connection,
  poll: (connection: Connection) => Promise<T | undefined>,
  options: WaitOptions = {},
): Promise<T> => {
  const { signal, sleep = sleepFor, now = () => new Date() } = options;
  const { deadlineMs, firstDelayMs, maxDelayMs } = { ...defaults, ...options };
  const deadline = now().getTime() + deadlineMs;
  let pause = Math.min(firstDelayMs, maxDelayMs);
  let failure: unknown;

  for (;;) {
    signal?.throwIfAborted();
    const restMs = deadline - now().getTime();
    if (restMs <= 0) {
      const told = `The task had not ended after ${deadlineMs} ms.`;
      throw new WaitTimedOut(told, failure === undefined ? {} : { cause: failure });
    }
    try {
      const found = await poll(bounded(connection, signal, restMs));
      if (found !== undefined) return found;
      failure = undefined;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error)) throw error;
      failure = error;
    }
    const untilDeadline = Math.max(deadline - now().getTime(), 0);
    await sleep(Math.min(pause, untilDeadline), signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    pause = Math.min(pause * growth, maxDelayMs);
  }
};
