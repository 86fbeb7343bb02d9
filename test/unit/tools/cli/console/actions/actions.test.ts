import { expect, test } from 'vitest';
import type { Extraction } from '../../../../../../lib/extraction/record.ts';
import type { ConsoleAction } from '../../../../../../tools/cli/console/actions/action-types.ts';
import { CliError } from '../../../../../../tools/cli/terminal/errors.ts';
import { consoleAddress, consoleOver, sourcesWith } from '../../../../../support/browser/console-fixtures.ts';
import {
  clock,
  closedExtraction,
  extractionIn,
  id,
} from '../../../../../support/data/extraction-fixtures.ts';

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
  /** Sends a form, and follows the redirect to the page that says what it did. */
  const send = async (action: string, form: Record<string, string>) => {
    const answer = await all.post(`/actions/${action}`, form);
    const location = answer.headers.get('location') ?? '';
    expect([answer.status, location]).toEqual([303, expect.stringContaining('?did=')]);
    const path = location.replace(`/${consoleAddress.token}`, '');
    return { path, page: await all.text(path) };
  };
  return { ...all, actions, calls, time, send };
};

const path = `/actions/reconcile?subject=${id}`;
const tokenIn = (page: string): string => /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';

test('an action is offered on its page, asks first, acts once, and the page that offered it says so', async () => {
  const { text, send, calls, done } = withActions();
  expect(await text(`/extractions/${id}`)).toContain(`/actions/reconcile?subject=${id}"`);
  const asking = await text(path);
  expect(asking).toContain('It reads the provider.');
  expect(calls).toEqual([]);

  const form = { subject: id, token: tokenIn(asking) };
  const first = await send('reconcile', form);
  expect(first.path).toMatch(new RegExp(`^/extractions/${id}\\?did=`));
  expect(first.page).toContain('<strong>Reconcile now: done.</strong> It is COMPLETED.');
  expect((await send('reconcile', form)).page).toContain('Nothing was done.');
  // Reloading the page is a GET, which repeats nothing.
  expect(await text(first.path)).toContain('It is COMPLETED.');
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
  expect([303, 404]).toContain(answer.status);
  expect(calls).toEqual([]);
});

test('the token of one action does not confirm another', async () => {
  const { text, send, calls } = withActions();
  const token = tokenIn(await text('/actions/pause'));
  expect((await send('lost', { subject: '', token })).page).toContain('lost: not done.');
  expect(calls).toEqual([]);
});

test('a token expires after ten minutes', async () => {
  const { text, send, calls, time } = withActions();
  const token = tokenIn(await text(path));
  time.advance(601);
  expect((await send('reconcile', { subject: id, token })).page).toContain('not done.');
  expect(calls).toEqual([]);
});

test('a form of another page is refused before its token is used', async () => {
  const { text, post } = withActions();
  const form = { subject: id, token: tokenIn(await text(path)) };
  expect((await post('/actions/reconcile', form, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await post('/actions/reconcile', form, { origin: 'null' })).status).toBe(403);
  expect((await post('/actions/reconcile', form)).status).toBe(303);
});

test('a text that an action needs is required, trimmed and bounded', async () => {
  const { text, post, send, calls } = withActions();
  const missing = await send('pause', { subject: '', token: tokenIn(await text('/actions/pause')) });
  expect(missing.page).toContain('Reason is missing.');
  const input = ` ${'y'.repeat(500)}`;
  await post('/actions/pause', { subject: '', token: tokenIn(await text('/actions/pause')), input });
  expect(calls).toEqual([['', 'y'.repeat(200)]]);
});

test('an expected failure is a sentence, and a defect is only on the terminal', async () => {
  const refused = withActions({ run: () => Promise.reject(new CliError('There is no extraction.')) });
  const { page } = await refused.send('reconcile', { subject: id, token: tokenIn(await refused.text(path)) });
  expect(page).toContain('<strong>Reconcile now: not done.</strong> There is no extraction.');
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
  const { text, send, done } = withActions({
    run: async () => ({ text: '2,489 bytes.', link: { url, label: 'Open the results' } }),
  });
  const { page } = await send('reconcile', { subject: id, token: tokenIn(await text(path)) });
  expect(page).toContain(`href="${url}"`);
  expect(await text(`/extractions/${id}`)).not.toContain(url);
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
  const { text, send, calls } = withActions();
  const panel = await text('/sandbox');
  expect(panel).toContain('<h2>Webhooks</h2>');
  const { path: back, page } = await send('lost', { subject: '', token: tokenIn(panel) });
  expect(back).toMatch(/^\/sandbox\?/);
  expect(page).toContain('<strong>lost: done.</strong>');
  expect(calls).toEqual([['', '']]);
});

test('the panel of the sandbox shows what the provider does wrong, and the action that ends it only then', async () => {
  const { actions } = withActions({ endsFaults: true, effect: 'It ends.' });
  const panelOf = (...active: readonly string[]) =>
    consoleOver(sourcesWith([]), { actions, sandboxState: async () => ({ active }) }).text('/sandbox');
  expect(await panelOf()).not.toContain('It ends.');
  const hanging = await panelOf('The provider hangs.');
  expect(hanging).toContain('The provider hangs.');
  expect(hanging).toContain('It ends.');
});

test('an action that can do nothing for an extraction is not offered on its page', async () => {
  const offered = async (record: Extraction) => {
    const { actions } = withActions({ isFor: ({ results }) => results !== undefined });
    return (await consoleOver(sourcesWith([record]), { actions }).text(`/extractions/${id}`)).includes(
      '/actions/',
    );
  };
  expect(await offered(extractionIn('RUNNING'))).toBe(false);
  const results = { bucket: 'b', key: 'k', bytes: 1, sha256: 's' };
  expect(await offered(closedExtraction({ status: 'COMPLETED', results }))).toBe(true);
});
