import { expect, test } from 'vitest';
import type { ConsoleAction } from '../../../../../tools/cli/console/actions.ts';
import { CliError } from '../../../../../tools/cli/terminal/errors.ts';
import { consoleOver, sourcesWith } from '../../../../support/console-fixtures.ts';
import { clock, extractionIn, id } from '../../../../support/extraction-fixtures.ts';

/** A console with three actions, which keep what they were called with. */
const withActions = (more: Partial<ConsoleAction> = {}) => {
  const calls: (readonly [string, string])[] = [];
  const time = clock(100);
  const run: ConsoleAction['run'] = async (subject, input) => {
    calls.push([subject, input]);
    return { text: 'It is COMPLETED.' };
  };
  const base = { effect: 'It reads the provider.', changes: true, run, ...more };
  const actions: ConsoleAction[] = [
    { ...base, id: 'reconcile', label: 'Reconcile now', place: 'extraction' },
    { ...base, id: 'pause', label: 'Pause starts', place: 'health', input: 'Reason' },
    { ...base, id: 'lost', label: 'lost', place: 'sandbox', group: 'Webhooks' },
  ];
  const all = consoleOver(sourcesWith([extractionIn('RUNNING')]), { actions, now: time.now });
  return { ...all, calls, time };
};

const path = `/actions/reconcile?subject=${id}`;
const tokenIn = (page: string): string => /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';

test('an action is offered on its page, asks first, and then acts once', async () => {
  const { text, post, calls, done } = withActions();
  expect(await text(`/extractions/${id}`)).toContain(`/actions/reconcile?subject=${id}"`);
  const asking = await text(path);
  expect(asking).toContain('It reads the provider.');
  expect(calls).toEqual([]);

  const form = { subject: id, token: tokenIn(asking) };
  const first = await post('/actions/reconcile', form);
  expect([first.status, await first.text()]).toEqual([200, expect.stringContaining('It is COMPLETED.')]);
  const second = await post('/actions/reconcile', form);
  expect([second.status, await second.text()]).toEqual([409, expect.stringContaining('Nothing was done.')]);
  expect(calls).toEqual([[id, '']]);
  expect(done).toEqual([`reconcile ${id} done`]);
});

test.each([
  ['no token', { subject: id, token: '' }],
  ['the token of another extraction', { subject: id.replace(/1$/, '2') }],
  ['no extraction', { subject: '' }],
  ['no id', { subject: '../health' }],
] as const)('a form with %s does nothing', async (_, form) => {
  const { text, post, calls } = withActions();
  const token = tokenIn(await text(path));
  const answer = await post('/actions/reconcile', { token, ...form });
  expect([404, 409]).toContain(answer.status);
  expect(calls).toEqual([]);
});

test('the token of one action does not confirm another', async () => {
  const { text, post, calls } = withActions();
  const token = tokenIn(await text('/actions/pause'));
  expect((await post('/actions/lost', { subject: '', token })).status).toBe(409);
  expect(calls).toEqual([]);
});

test('a token expires after ten minutes', async () => {
  const { text, post, calls, time } = withActions();
  const token = tokenIn(await text(path));
  time.advance(601);
  expect((await post('/actions/reconcile', { subject: id, token })).status).toBe(409);
  expect(calls).toEqual([]);
});

test('a form of another page is refused before its token is used', async () => {
  const { text, post } = withActions();
  const form = { subject: id, token: tokenIn(await text(path)) };
  expect((await post('/actions/reconcile', form, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await post('/actions/reconcile', form, { origin: 'null' })).status).toBe(403);
  expect((await post('/actions/reconcile', form)).status).toBe(200);
});

test('a text that an action needs is required, trimmed and bounded', async () => {
  const { text, post, calls } = withActions();
  const missing = await post('/actions/pause', { subject: '', token: tokenIn(await text('/actions/pause')) });
  expect([missing.status, await missing.text()]).toEqual([
    409,
    expect.stringContaining('Reason is missing.'),
  ]);
  const input = ` ${'y'.repeat(500)}`;
  await post('/actions/pause', { subject: '', token: tokenIn(await text('/actions/pause')), input });
  expect(calls).toEqual([['', 'y'.repeat(200)]]);
});

test('an expected failure is a sentence, and a defect is only on the terminal', async () => {
  const refused = withActions({ run: () => Promise.reject(new CliError('There is no extraction.')) });
  const answer = await refused.post('/actions/reconcile', {
    subject: id,
    token: tokenIn(await refused.text(path)),
  });
  expect([answer.status, await answer.text()]).toEqual([
    502,
    expect.stringContaining('There is no extraction.'),
  ]);
  expect(refused.done).toEqual([`reconcile ${id} failed`]);

  const broken = withActions({ run: () => Promise.reject(new TypeError('a value')) });
  const failed = await broken.post('/actions/reconcile', {
    subject: id,
    token: tokenIn(await broken.text(path)),
  });
  expect([failed.status, await failed.text()]).toEqual([500, expect.not.stringContaining('a value')]);
  expect(broken.errors).toHaveLength(1);
});

test('a link is on the page that answers, and not on the terminal', async () => {
  const url = 'https://bucket.example/key?signature=1';
  const { text, post, done } = withActions({
    run: async () => ({ text: '2,489 bytes.', link: { url, label: 'Open the results' } }),
  });
  const answer = await post('/actions/reconcile', { subject: id, token: tokenIn(await text(path)) });
  expect(await answer.text()).toContain(`href="${url}"`);
  expect(done.join()).not.toContain('bucket');
});

test('without actions the console only reads', async () => {
  const { get, post, text } = consoleOver(sourcesWith([extractionIn('RUNNING')]));
  expect(await text(`/extractions/${id}`)).not.toContain('/actions/');
  expect(await text('/')).toContain('read-only');
  expect((await get(path)).status).toBe(404);
  expect((await post('/actions/reconcile', { subject: id, token: 'x' })).status).toBe(404);
  expect((await get('/sandbox')).status).toBe(404);
});

test('a page with a form that acts sends its origin, and is no live page', async () => {
  const { get } = withActions();
  const answer = await get(path);
  expect(answer.headers.get('referrer-policy')).toBe('same-origin');
  expect(await answer.text()).toContain('data-live=""');
});

test('the panel of the sandbox acts without a second question', async () => {
  const { text, post, calls } = withActions();
  const panel = await text('/sandbox');
  expect(panel).toContain('<h2>Webhooks</h2>');
  const answer = await post('/actions/lost', { subject: '', token: tokenIn(panel) });
  expect(answer.status).toBe(200);
  expect(calls).toEqual([['', '']]);
});
