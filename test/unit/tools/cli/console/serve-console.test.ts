import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningConsole, serveConsole } from '../../../../../tools/cli/console/serve-console.ts';
import { sourcesWith } from '../../../../support/console-fixtures.ts';
import { at } from '../../../../support/extraction-fixtures.ts';

let running: RunningConsole;
const serve = (port: number) =>
  serveConsole(port, {
    stage: 'prod',
    sources: sourcesWith([]),
    actions: [],
    random: () => 'random',
    now: () => at(100),
    sleep: () => new Promise(() => undefined),
    everyMs: 1,
    onAction: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
beforeAll(async () => {
  running = await serve(0);
});
afterAll(() => running.close());

test('the address is on this machine only, and its secret is new at each start', async () => {
  const other = await serve(0);
  const [one, two] = [running, other].map(({ url }) => new URL(url));
  await other.close();
  expect(one?.hostname).toBe('127.0.0.1');
  expect(one?.pathname).toMatch(/^\/[\w-]{32}\/$/);
  expect(two?.pathname).not.toBe(one?.pathname);
});

test('a port that is taken is a sentence', async () => {
  const { port } = new URL(running.url);
  await expect(serve(Number(port))).rejects.toThrow(`Port ${port} cannot be used: EADDRINUSE.`);
});

/** Follows the list. Resolves with the answer, whose stream is still open. */
const follow = async (): Promise<IncomingMessage> => {
  const [answer] = (await once(get(`${running.url}live?page=%2F`), 'response')) as [IncomingMessage];
  return answer;
};

test('at most 20 pages are followed at a time, and one that its browser has left makes room', async () => {
  const open = await Promise.all(Array.from({ length: 20 }, follow));
  expect(open.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 20 }, () => 200));
  expect((await follow()).statusCode).toBe(503);
  open[0]?.destroy();
  // The server learns of it a moment later.
  let next = await follow();
  while (next.statusCode === 503) {
    next.destroy();
    next = await follow();
  }
  expect(next.statusCode).toBe(200);
  for (const one of [...open, next]) one.destroy();
});
