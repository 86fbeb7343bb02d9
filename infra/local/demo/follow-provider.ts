import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxControl } from '../../../test/sandbox/control-client.ts';
import type { SandboxEvent } from '../../../test/sandbox/events.ts';

/** The sandbox is in this very process, so asking again costs nothing. */
const retryAfterMs = 250;

/**
 * The sandbox's events, past and to come, until `signal` aborts. Somebody who rehearses an outage has the sandbox cut
 * every connection (`POST /_sandbox/down`), this one included; so it is asked again for what has happened since.
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
      // What fetch throws for a connection that is refused or cut off: https://fetch.spec.whatwg.org/#fetch-method
      if (!(error instanceof TypeError)) throw error;
    }
    await delay(retryAfterMs, undefined, { signal });
  }
};
