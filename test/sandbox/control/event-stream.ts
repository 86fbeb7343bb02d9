import type { SandboxEvent } from '../events.ts';
import type { Sandbox } from '../state.ts';

/**
 * Server-Sent Events: first those after `since`, then each as it happens, until the client leaves. `id` is the
 * event's `seq`.
 */
export function eventStream(sandbox: Sandbox, since: number): Response {
  const encoder = new TextEncoder();
  let stopListening = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (event: SandboxEvent) =>
        controller.enqueue(encoder.encode(`id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`));
      for (const event of sandbox.events.since(since)) send(event);
      stopListening = sandbox.events.subscribe(send);
    },
    cancel() {
      stopListening();
    },
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}
