import http from 'node:http';
import https from 'node:https';
import type { Fetch } from './fetch-type.ts';

/** The connection was not established. No byte of the request was sent. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

/**
 * Returns a `fetch` that sends each request exactly once, on a new connection.
 *
 * It does not use `fetch` or undici. The Fetch standard repeats a request after a 421
 * (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch), which could start a task twice. `node:http` never
 * repeats or redirects a request.
 *
 * It does not reuse a connection. Between two invocations the function is frozen, and a pooled connection may be dead
 * afterwards. A reset on it would read as a call that may have been accepted. A new connection costs one TLS
 * handshake, and an extraction makes only a few calls.
 *
 * `connectTimeoutMs` limits DNS, TCP and TLS. Rejects with NotConnected before the connection is established, and
 * with Node's errors after it.
 */
export const freshConnectionFetch =
  (connectTimeoutMs: number): Fetch =>
  (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const isSecure = url.startsWith('https:');
      const { request } = isSecure ? https : http;
      const call = request(url, { method, headers, signal, agent: false }, (answer) => {
        let cut: Error | undefined;
        call.once('error', (cause) => {
          if (!answer.complete) cut = cause;
        });
        resolve({
          status: answer.statusCode ?? 0,
          headers: { get: (name) => [answer.headers[name.toLowerCase()]].flat().join(', ') || null },
          body: {
            async *[Symbol.asyncIterator]() {
              yield* answer;
              // A body without a length ends when the connection does. Node then reports its end even after a reset or a timeout.
              if (cut !== undefined) throw cut;
            },
            cancel: async () => {
              answer.destroy();
            },
          },
        });
      });
      const timer = setTimeout(() => call.destroy(new Error('No connection in time.')), connectTimeoutMs);
      let connected = false;
      call.once('socket', (socket) =>
        socket.once(isSecure ? 'secureConnect' : 'connect', () => {
          connected = true;
          clearTimeout(timer);
        }),
      );
      call.once('error', (cause) =>
        reject(connected ? cause : new NotConnected('No connection.', { cause })),
      );
      call.once('close', () => {
        clearTimeout(timer);
        // After an answer this has no effect. An unexpected 101 closes the connection without an answer or error.
        reject(new Error('The connection was closed without an answer.'));
      });
      call.end(body);
    });
