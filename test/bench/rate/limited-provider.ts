import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const startPath = '/api/v2/tasks';

/** A provider with a rate limit, which its API document does not show: a token bucket in front of the sandbox. */
export type LimitedProvider = {
  readonly baseUrl: string;
  /** The sandbox that takes what passes. */
  setTarget(baseUrl: string): void;
  readonly counts: { accepted: number; refused: number };
  close(): Promise<void>;
};

export const startLimitedProvider = async (perSecond: number, burst: number): Promise<LimitedProvider> => {
  const counts = { accepted: 0, refused: 0 };
  let [tokens, at, target] = [burst, Date.now(), ''];
  const takes = (): boolean => {
    const now = Date.now();
    tokens = Math.min(burst, tokens + ((now - at) * perSecond) / 1_000);
    at = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming;
    if (method === 'POST' && url === startPath) {
      const passes = takes();
      counts[passes ? 'accepted' : 'refused'] += 1;
      if (!passes) {
        incoming.resume();
        outgoing
          .writeHead(429, { 'content-type': 'application/json' })
          .end('{"message":"Too many requests"}');
        return;
      }
    }
    const passed = request(new URL(url, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    setTarget: (baseUrl) => {
      target = baseUrl;
    },
    counts,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
