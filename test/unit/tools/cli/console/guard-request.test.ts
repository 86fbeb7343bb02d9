import { expect, test } from 'vitest';
import { refusalOf } from '../../../../../tools/cli/console/guard-request.ts';
import { consoleAddress, consoleOver, sourcesWith } from '../../../../support/console-fixtures.ts';

const { host, token } = consoleAddress;
const own = `http://${host}`;

/** Why a request of this kind is refused. `host` is the address of the console where no other is given. */
const refused = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  refusalOf(new Request(`http://${host}${path}`, { method, headers: { host, ...headers } }), consoleAddress);

test.each([
  ['typed into the address bar', {}],
  ['from its own page', { origin: own, 'sec-fetch-site': 'same-origin' }],
  ['a link in another program', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
  ['a link in another page', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
] as const)('a request is answered: %s', (_, headers) => {
  expect(refused(`/${token}/`, headers)).toBeUndefined();
});

test.each([
  ['no token', '/', {}],
  ['a wrong token', `/${token}x/`, {}],
  ['a token of another length', '/t/', {}],
  ['a name that another page made to resolve here', `/${token}/`, { host: 'evil.example:4000' }],
  ['another port', `/${token}/`, { host: '127.0.0.1:4001' }],
  ['a script of another page', `/${token}/`, { origin: 'https://evil.example' }],
  ['an unknown page', `/${token}/`, { origin: 'null' }],
  ['an image in another page', `/${token}/`, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
  ['another port of this machine', `/${token}/`, { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }],
] as const)('a request is refused: %s', (_, path, headers) => {
  expect(refused(path, headers)).toEqual(expect.any(String));
});

test('a form is accepted from its own page only', () => {
  const path = `/${token}/actions/pause`;
  expect(refused(path, { origin: own, 'sec-fetch-site': 'same-origin' }, 'POST')).toBeUndefined();
  expect(refused(path, {}, 'POST')).toEqual(expect.any(String));
  const fromAnotherPage = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect(refused(path, { origin: own, ...fromAnotherPage }, 'POST')).toEqual(expect.any(String));
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
