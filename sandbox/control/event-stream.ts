import type { SandboxEvent } from '../event-log.ts';
import type { Sandbox } from '../state-types.ts';

/** Node's fetch ends a body that is silent for 300 s, and proxies do earlier. */
const KEEP_ALIVE_MS = 15_000;

/**
 * Server-Sent Events: the past ones after `since`, then each new one, until the client disconnects. An empty comment keeps
 * a quiet connection open. `id` is the event's `seq`.
 */
export const eventStream = (sandbox: Sandbox, since: number, keepAliveMs = KEEP_ALIVE_MS): Response => {
  const encoder = new TextEncoder();
  let stopListening = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const keepAlive = setInterval(() => controller.enqueue(encoder.encode(':\n\n')), keepAliveMs);
      keepAlive.unref();
      const send = (event: SandboxEvent) =>
        controller.enqueue(encoder.encode(`id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`));
      for (const event of sandbox.events.since(since)) send(event);
      const unsubscribe = sandbox.events.subscribe(send);
      stopListening = () => {
        clearInterval(keepAlive);
        unsubscribe();
      };
    },
    cancel() {
      stopListening();
    },
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
};
