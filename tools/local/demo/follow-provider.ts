import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxControl } from '../../../test/sandbox/control-client.ts';
import type { SandboxEvent } from '../../../test/sandbox/events.ts';

/** The sandbox runs in this process, so frequent requests cost nothing. */
const retryAfterMs = 250;

/**
 * Yields the sandbox's events, past and future, until `signal` aborts. A rehearsed outage (`POST /_sandbox/down`) also cuts
 * this connection, so it reconnects and continues after the last event.
 */
export const followProvider = async function* (
  { events }: Pick<SandboxControl, 'events'>,
  signal: AbortSignal,
): AsyncGenerator<SandboxEvent, void> {
  let seen = 0;
  for (;;) {
    try {
      for await (const event of events(seen, signal)) {
        seen = event.seq;
        yield event;
      }
    } catch (error) {
      // fetch throws it for a connection that is refused or cut off: https://fetch.spec.whatwg.org/#fetch-method
      if (!(error instanceof TypeError)) throw error;
    }
    await delay(retryAfterMs, undefined, { signal });
  }
};
