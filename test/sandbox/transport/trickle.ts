import { setTimeout as delay } from 'node:timers/promises';

/** A 200 that sends its headers at once and its body with one byte per second. */
export const trickle = (text: string): Response => {
  const bytes = new TextEncoder().encode(text);
  const left = new AbortController();
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent > 0) await delay(1000, undefined, { signal: left.signal });
      controller.enqueue(bytes.subarray(sent, sent + 1));
      sent += 1;
      if (sent === bytes.length) controller.close();
    },
    cancel() {
      left.abort();
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
};
