import { Agent, fetch } from 'undici';
import type { Fetch } from './send-request.ts';

/**
 * A fetch that opens a new connection for every call. A pooled one, frozen with the function between two
 * invocations, may be dead by the time it is used, and a reset on it would read as "maybe taken". The price is
 * one handshake per call, on a service that makes a handful of calls per extraction.
 * `connectTimeoutMs` covers DNS, TCP and TLS; undici then fails with UND_ERR_CONNECT_TIMEOUT.
 */
export const freshConnectionFetch =
  (connectTimeoutMs: number): Fetch =>
  async (url, init) => {
    const agent = new Agent({ connect: { timeout: connectTimeoutMs }, pipelining: 0 });
    try {
      const answer = await fetch(url, { ...init, dispatcher: agent });
      // Ends the connection once the body has been read; until then close() waits.
      void agent.close();
      return answer;
    } catch (error) {
      void agent.destroy();
      throw error;
    }
  };
