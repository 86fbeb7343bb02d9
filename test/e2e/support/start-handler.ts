import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Event = { readonly kind: string; readonly extractionId: string; readonly eventId: string };
type Received = { readonly event: Event; readonly body: string; readonly headers: Record<string, string> };

/** A handler of events. `decide` returns whether it answers. Extractions of other tests arrive too. */
export const startHandler = async (decide: (event: Event) => boolean) => {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const event = JSON.parse(body) as Event;
    received.push({ event, body, headers: request.headers as Record<string, string> });
    for (const check of waiting) check();
    if (decide(event)) response.writeHead(204).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const until = (isThere: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!isThere()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received, until, stop };
};
