import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readHolds } from '../../../../../tools/cli/aws/stores.ts';
import { pauseActions } from '../../../../../tools/cli/console/actions/console-actions.ts';
import { refusalOf } from '../../../../../tools/cli/console/guard-request.ts';
import { type RunningConsole, serveConsole } from '../../../../../tools/cli/console/serve-console.ts';
import { describeHeld } from '../../../../../tools/cli/terminal/describe-hold.ts';
import { consoleAddress, consoleOver, sourcesWith } from '../../../../support/browser/console-fixtures.ts';
import { at } from '../../../../support/data/extraction-fixtures.ts';
import { memoryBreakerStore } from '../../../../support/stores/memory-breaker-store.ts';

const { host, token } = consoleAddress;
const own = `http://${host}`;

const answered = undefined;
const isRefused = expect.any(String);
const fromOwn = { origin: own, 'sec-fetch-site': 'same-origin' };
const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };

test.each([
  [answered, 'typed into the address bar', `/${token}/`, {}],
  [answered, 'from its own page', `/${token}/`, fromOwn],
  [answered, 'a link in another program', `/${token}/`, { ...link, 'sec-fetch-site': 'none' }],
  [answered, 'a link in another page', `/${token}/`, link],
  [answered, 'a form of its own page', `/${token}/`, fromOwn, 'POST'],
  [isRefused, 'a form without an origin', `/${token}/`, {}, 'POST'],
  [isRefused, 'a form of another page', `/${token}/`, { ...link, origin: own }, 'POST'],
  [isRefused, 'no token', '/', {}],
  [isRefused, 'a wrong token', `/${token}x/`, {}],
  [isRefused, 'a token of another length', '/t/', {}],
  [isRefused, 'a name that another page made to resolve here', `/${token}/`, { host: 'evil.example:4000' }],
  [isRefused, 'another port', `/${token}/`, { host: '127.0.0.1:4001' }],
  [isRefused, 'a script of another page', `/${token}/`, { origin: 'https://evil.example' }],
  [isRefused, 'an unknown page', `/${token}/`, { origin: 'null' }],
  [isRefused, 'an image in another page', `/${token}/`, { ...link, 'sec-fetch-mode': 'no-cors' }],
  [
    isRefused,
    'another port of this machine',
    `/${token}/`,
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
  ],
] as const)('the refusal is %s for a request: %s', (refusal, _, path, headers, method: string = 'GET') => {
  const request = new Request(`http://${host}${path}`, { method, headers: { host, ...headers } });
  expect(refusalOf(request, consoleAddress)).toEqual(refusal);
});

test.each(['/assets/constructor', '/assets/__proto__', '/assets/toString', '//[', '/nothing?a=?b=%'])(
  'there is no page %s',
  async (path) => {
    expect((await consoleOver(sourcesWith([])).get(path)).status).toBe(404);
  },
);

test.each(['http://[', '//[', 'nothing'])('a live page %j is that of no page', async (page) => {
  const { get } = consoleOver(sourcesWith([]));
  const answer = await get(`/live?page=${encodeURIComponent(page)}`);
  expect(answer.status).toBe(200);
  const { value } = (await answer.body?.getReader().read()) ?? {};
  expect(new TextDecoder().decode(value)).toContain('event: page');
});

test('a refusal shows nothing of the deployment, and every answer has the headers', async () => {
  const { app, get } = consoleOver(sourcesWith([]));
  const stranger = await app.request('http://127.0.0.1:4000/', { headers: { host } });
  expect(stranger.status).toBe(403);
  expect(await stranger.text()).not.toContain('prod');
  for (const answer of [stranger, await get('/'), await get('/nothing'), await get('/assets/console.js')]) {
    const { headers } = answer;
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('set-cookie')).toBeNull();
  }
});

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

test('an operator pauses calls with a reason and resumes them, and resumed starts pass every breaker', async () => {
  const store = memoryBreakerStore();
  const breakers = { ...store, list: async () => store.items };
  const since = at(99).getTime();
  const opened = { since, pause: 30, turn: { at: since + 30_000 } };
  const state = { groups: [{ name: 'bank', failed: [], opened }] };
  for (const caller of ['arn:aws:iam::1:role/orders', 'arn:aws:iam::1:role/billing']) {
    store.items.set(caller, { state, version: '1' });
  }
  const identity = async () => 'arn:aws:iam::1:user/ana';
  const actions = pauseActions({ breakers, identity, now: () => at(100) });
  const run = (id: string, reason = '') => actions.find((action) => action.id === id)?.run('', reason);
  const held = async () => (await readHolds(breakers, at(100))).map(describeHeld);
  const both = ['starts of orders for bank', 'starts of billing for bank'];

  await run('pause-reads', 'quota');
  expect(await held()).toEqual(['reads', ...both]);
  await run('pause-starts', 'maintenance');
  expect(await held()).toEqual(['starts', 'reads', ...both]);
  expect((await readHolds(breakers, at(100)))[0]).toMatchObject({
    since: at(100).toISOString(),
    reason: 'maintenance',
    by: 'arn:aws:iam::1:user/ana',
  });
  await run('resume-reads');
  expect(await held()).toEqual(['starts', ...both]);
  await run('resume-starts');
  expect(await held()).toEqual([]);
});
