import http from 'node:http';
import https from 'node:https';
import type { Fetch } from './fetch.ts';

/** The connection never stood, whatever the reason: no byte of the request has left. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

/**
 * Makes one request on a connection of its own, and makes it once.
 *
 * Not `fetch`, nor undici's: the Fetch standard sends a request a second time after a 421
 * (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch), which here is a second start. `node:http` never
 * repeats or redirects anything.
 *
 * A new connection, as a pooled one, frozen with the function between two invocations, may be dead by the time
 * it is used, and a reset on it would read as "maybe taken". The price is one handshake per call, on a service
 * that makes a handful of calls per extraction.
 *
 * `connectTimeoutMs` covers DNS, TCP and TLS. Rejects with NotConnected, and after that with Node's errors.
 */
export const freshConnectionFetch =
  (connectTimeoutMs: number): Fetch =>
  (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const isSecure = url.startsWith('https:');
      const { request } = isSecure ? https : http;
      const call = request(url, { method, headers, signal, agent: false }, (answer) =>
        resolve({
          status: answer.statusCode ?? 0,
          body: {
            [Symbol.asyncIterator]: () => answer[Symbol.asyncIterator](),
            cancel: async () => {
              answer.destroy();
            },
          },
        }),
      );
      const timer = setTimeout(() => call.destroy(new Error('No connection in time.')), connectTimeoutMs);
      let stands = false;
      call.once('socket', (socket) =>
        socket.once(isSecure ? 'secureConnect' : 'connect', () => {
          stands = true;
          clearTimeout(timer);
        }),
      );
      call.once('error', (cause) => reject(stands ? cause : new NotConnected('No connection.', { cause })));
      call.once('close', () => {
        clearTimeout(timer);
        // After an answer this changes nothing. A 101, which nobody asked for, ends without one, and unheard.
        reject(new Error('The connection was closed without an answer.'));
      });
      call.end(body);
    });
