import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type ReceivedDelivery = {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** A webhook receiver that records its requests. It answers with the statuses in turn, the last one repeatedly. */
export const startReceiver = async (statuses: readonly number[] = [204]) => {
  const received: ReceivedDelivery[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const status = statuses[Math.min(received.length, statuses.length - 1)] ?? 204;
    received.push({ headers: request.headers, body });
    response.writeHead(status).end(status === 204 ? undefined : `answer ${status}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/provider`,
    received,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
