import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import { hostOf } from '#lib/http/loopback-guard.ts';
import { consoleAddress, consoleDeps, consoleOver, sourcesWith } from '#support/browser/console-fixtures.ts';
import { extractionIn } from '#support/data/extraction-fixtures.ts';
import { refusalOf } from '#tools/cli/console/guard-request.ts';
import { type RunningConsole, serveConsole } from '#tools/cli/console/serve-console.ts';

const { port, token } = consoleAddress;
const host = hostOf(port);
const own = `http://${host}`;

const answered = undefined;
const isRefused = expect.any(String);
const fromOwn = { origin: own, 'sec-fetch-site': 'same-origin' };
const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };

test.each([
  [answered, 'typed into the address bar', `/${token}/`, {}],
  [answered, 'a link in another program', `/${token}/`, { ...link, 'sec-fetch-site': 'none' }],
  [answered, 'a link in another page', `/${token}/`, link],
  [answered, 'a form of its own page', `/${token}/`, fromOwn, 'POST'],
  [isRefused, 'a form without an origin', `/${token}/`, {}, 'POST'],
  [isRefused, 'a form of another page', `/${token}/`, { ...link, origin: own }, 'POST'],
  [isRefused, 'a wrong token', `/${token}x/`, {}],
  [isRefused, 'a token of another length', '/t/', {}],
  [isRefused, 'a name that another page made to resolve here', `/${token}/`, { host: 'evil.example:4000' }],
  [
    answered,
    'another name of this machine',
    `/${token}/`,
    { host: 'localhost:4000', origin: 'http://localhost:4000' },
  ],
  [isRefused, 'a page at the other name', `/${token}/`, { host: 'localhost:4000', origin: own }],
  [isRefused, 'a page without a name', `/${token}/`, { origin: 'null' }],
  [isRefused, 'another port', `/${token}/`, { host: '127.0.0.1:4001' }],
  [isRefused, 'a script of another page', `/${token}/`, { origin: 'https://evil.example' }],
  [isRefused, 'an image in another page', `/${token}/`, { ...link, 'sec-fetch-mode': 'no-cors' }],
  [isRefused, 'a script of another port', `/${token}/`, { 'sec-fetch-site': 'same-site' }],
] as const)('the refusal is %s for a request: %s', (refusal, _, path, headers, method: string = 'GET') => {
  const request = new Request(`http://${host}${path}`, { method, headers: { host, ...headers } });
  expect(refusalOf(request, consoleAddress)).toEqual(refusal);
});

test('on port 80 the address has no port, as browsers send it', () => {
  const address = { port: 80, token };
  const url = `http://127.0.0.1:80/${token}/`;
  const sentBy = (host: string) => new Request(url, { headers: { host, origin: new URL(url).origin } });
  expect(refusalOf(sentBy(new URL(url).host), address)).toBeUndefined();
  expect(refusalOf(sentBy('127.0.0.1:4000'), address)).toEqual(isRefused);
});

const nowhere = ['/assets/constructor', '/assets/app.ts', '//[', '/nothing?a=?b=%', '/extractions/none'];

test.each(nowhere)('there is no page %s', async (path) => {
  expect((await consoleOver(sourcesWith([])).get(path)).status).toBe(404);
});

/** Reads a stream of server-sent events until there are so many. */
const readEvents = async (answer: Response, count: number): Promise<readonly string[]> => {
  const reader = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (text.split('\n\n').length <= count) {
    const { value = '', done } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return text.split('\n\n').slice(0, count);
};

test('a page is sent again when what it shows has changed, and only then', async () => {
  const records: Extraction[] = [extractionIn('RUNNING', { reference: 'first' })];
  let sleeps = 0;
  const { get } = consoleOver(sourcesWith([], { open: async () => [...records] }), {
    sleep: async () => {
      sleeps += 1;
      if (sleeps === 2) records[0] = extractionIn('RUNNING', { reference: 'second' });
    },
  });
  const answer = await get('/live?page=%2F');
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  expect(await readEvents(answer, 3)).toEqual([
    expect.stringMatching(/event: page.*first/s),
    expect.stringContaining('event: checked'),
    expect.stringMatching(/event: page.*second/s),
  ]);
});

test('a live page that cannot exist is that of no page', async () => {
  const answer = await consoleOver(sourcesWith([])).get(`/live?page=${encodeURIComponent('http://[')}`);
  expect(await readEvents(answer, 1)).toEqual([expect.stringContaining('event: page')]);
});

test('a refusal shows nothing of the deployment, and every answer has the headers', async () => {
  const { app, get } = consoleOver(sourcesWith([]));
  const stranger = await app.request('http://127.0.0.1:4000/', { headers: { host } });
  expect(stranger.status).toBe(403);
  expect(await stranger.text()).not.toContain('prod');
  for (const answer of [stranger, await get('/'), await get('/nothing'), await get('/assets/console.js')]) {
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringContaining("default-src 'none'; script-src 'self'"),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    });
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).not.toHaveProperty('set-cookie');
  }
});

let running: RunningConsole;
const serve = (port: number) => serveConsole(port, consoleDeps(sourcesWith([])));
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
  await expect(serve(Number(port))).rejects.toThrow(
    `Port ${port} cannot be used (EADDRINUSE). Choose another with --port`,
  );
});

/** Follows the list. Resolves with the answer, whose stream is still open. */
const follow = async () => (await once(get(`${running.url}live?page=%2F`), 'response'))[0] as IncomingMessage;

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

test('a page that takes long sends its frame first, and its content once it is read', async () => {
  const opened = Promise.withResolvers<readonly Extraction[]>();
  const sources = sourcesWith([], { open: () => opened.promise });
  const { get: open } = consoleOver(sources, { sleep: async () => undefined });
  const answer = await open('/?since=6h');
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let frame = '';
  while (!frame.includes('Reading…')) frame += (await reader?.read())?.value ?? '';
  expect(frame).toContain('aria-current="page">Extractions</a>');
  expect(frame).not.toContain('<h1');
  opened.resolve([extractionIn('RUNNING')]);
  let rest = '';
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) rest += read.value;
  expect(rest).toContain('1 extraction is open, and none is overdue.');
  expect(rest).toMatch(/<\/main>\s*<\/body>\s*<\/html>$/);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
});
