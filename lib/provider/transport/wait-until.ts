/** Only in the published client (docs/provider-client.md). */

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
  /** Ends the wait and a current poll at once, and throws its `reason`. The task continues. */
  readonly signal?: AbortSignal;
  /** The longest wait, in milliseconds. */
  readonly deadlineMs?: number;
  /** The pause after the first poll, in milliseconds. Each pause is 1.5 times the last one, up to `maxDelayMs`. */
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  /** Resolves after `ms` milliseconds. Rejects when the signal aborts. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly now?: () => Date;
};

/** A task takes seconds to minutes. Ten minutes with pauses from 1 s to 15 s are about 45 polls. */
const defaults = { deadlineMs: 600_000, firstDelayMs: 1_000, maxDelayMs: 15_000 };
const growth = 1.5;

const sleepFor = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, signal === undefined ? {} : { signal });

/** The call was not carried out, even if the body has an `errorType`. */
const transientStatuses: readonly number[] = [408, 425, 429];

/** Whether the next poll may succeed. Any 5xx can come from a gateway. */
const isTransient = (error: unknown): boolean =>
  error instanceof ProviderBusy ||
  error instanceof ProviderUnreachable ||
  error instanceof ProviderAmbiguous ||
  (error instanceof ProviderExtractionFailed &&
    (error.status >= 500 || transientStatuses.includes(error.status)));

/** The connection with calls that end with the signal and at the deadline. */
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
 * Polls until `poll` returns a value. If the provider is busy, unreachable or returns an unreadable answer, the wait
 * continues. Throws the signal's reason, WaitTimedOut at the deadline, and at once any other error of `poll`.
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
      const message = `The task had not ended after ${deadlineMs} ms.`;
      throw new WaitTimedOut(message, failure === undefined ? {} : { cause: failure });
    }
    try {
      const found = await poll(bounded(connection, signal, restMs));
      if (found !== undefined) return found;
      failure = undefined;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isTransient(error)) throw error;
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
