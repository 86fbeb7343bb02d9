/**
 * A stub of AWS for the measured webhook handler. It runs in its own process, answers the webhook's calls as the services
 * do, and stores nothing. It sends its port to its parent, and ends with it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { answerDelivery } from '../cold/first-delivery.ts';

const server = createServer(async (request, response) => {
  const target = String(request.headers['x-amz-target']);
  const { status, body } = answerDelivery({ target, body: await text(request) });
  const answer = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.0',
    'content-length': Buffer.byteLength(answer),
  });
  response.end(answer);
});

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
