import { describe, expect, test } from 'vitest';
import { consoleAddress, consoleOver, sourcesWith, tokenIn } from '#support/browser/console-fixtures.ts';
import { at, clock, extractionIn, id, idOf, iso } from '#support/data/extraction-fixtures.ts';
import { memoryBreakerStore } from '#support/stores/memory-breaker-store.ts';
import { readHolds } from '#tools/cli/aws/stores.ts';
import type { ConsoleAction } from '#tools/cli/console/actions/action-types.ts';
import { cancelAction, pauseActions } from '#tools/cli/console/actions/console-actions.ts';
import { eraseMatchingAction } from '#tools/cli/console/actions/erase-matching-action.ts';
import { matchingRecords } from '#tools/cli/console/pages/list-page.ts';
import { describeHeld } from '#tools/cli/terminal/describe-hold.ts';
import { CliError } from '#tools/cli/terminal/errors.ts';

/** A console with three actions, which keep what they were called with. */
const withActions = (more: Partial<ConsoleAction> = {}) => {
  const calls: (readonly [string, string])[] = [];
  const time = clock(100);
  const run: ConsoleAction['run'] = async (subject, input) => {
    calls.push([subject, input]);
    return { text: 'It is COMPLETED.' };
  };
  const base = { effect: 'It reads the provider.', run, ...more };
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
    expect([answer.status, location]).toEqual([303, expect.stringMatching(/\?did=.+#notice$/)]);
    const path = location.replace(`/${consoleAddress.token}`, '').replace(/#notice$/, '');
    return { path, page: await all.text(path) };
  };
  /** The form of the page that asks before an action. */
  const formOf = async (action = 'reconcile', subject: string = id) => {
    const page = await all.text(`/actions/${action}?subject=${subject}`);
    return { subject, token: tokenIn(page) };
  };
  return { ...all, actions, calls, time, send, formOf };
};

const path = `/actions/reconcile?subject=${id}`;

test('an action is offered on its page, asks first, acts once, and the page that offered it says so', async () => {
  const { text, send, calls, done } = withActions();
  expect(await text(`/extractions/${id}`)).toContain(`/actions/reconcile?subject=${id}#result"`);
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
  ['reconcile', id, 'reconcile', idOf(2)],
  ['reconcile', id, 'reconcile', '../health'],
  ['pause', '', 'lost', ''],
])('the token for %s of "%s" does not confirm %s of "%s"', async (asked, of, action, subject) => {
  const { formOf, post, calls } = withActions();
  const answer = await post(`/actions/${action}`, { ...(await formOf(asked, of)), subject });
  expect([303, 404]).toContain(answer.status);
  expect(calls).toEqual([]);
});

test('a token expires after ten minutes', async () => {
  const { formOf, send, calls, time } = withActions();
  const form = await formOf();
  time.advance(601);
  expect((await send('reconcile', form)).page).toContain('not done.');
  expect(calls).toEqual([]);
});

test('a form of another page is refused before its token is used', async () => {
  const { formOf, post } = withActions();
  const form = await formOf();
  expect((await post('/actions/reconcile', form, { origin: 'null' })).status).toBe(403);
  expect((await post('/actions/reconcile', form)).status).toBe(303);
});

test('a text that an action needs is required, trimmed and bounded', async () => {
  const { formOf, send, calls } = withActions();
  expect((await send('pause', await formOf('pause', ''))).page).toContain('Reason is missing.');
  await send('pause', { ...(await formOf('pause', '')), input: ` ${'y'.repeat(500)}` });
  expect(calls).toEqual([['', 'y'.repeat(200)]]);
});

test('an expected failure is a sentence', async () => {
  const refused = withActions({ run: () => Promise.reject(new CliError('There is no extraction.')) });
  const { page } = await refused.send('reconcile', await refused.formOf());
  expect(page).toContain('<strong>Reconcile now: not done.</strong> There is no extraction.');
  expect(refused.done).toEqual([`reconcile ${id} failed`]);
});

test('a link is on the page that answers, and not on the terminal', async () => {
  const url = 'https://bucket.example/key?signature=1';
  const { text, send, formOf, done } = withActions({
    run: async () => ({ text: '2,489 bytes.', link: { url, label: 'Open the results' } }),
  });
  const { page } = await send('reconcile', await formOf());
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
  // Beside the button, in its item of the grid.
  expect(page).toMatch(
    /<li><form method="post" action="[^"]+lost">(?:(?!<\/li>).|\n)*<strong>lost: done\.<\/strong>/,
  );
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

test('a start that was not made is cancelled, and any other is left as it is', async () => {
  const { run, isFor } = cancelAction(async (extractionId) =>
    extractionId === id
      ? { status: 'NOT_STARTED', cancelled: true }
      : { status: 'STARTING', cancelled: false },
  );
  expect(isFor?.(extractionIn('REQUESTED'))).toBe(true);
  expect(isFor?.(extractionIn('STARTING'))).toBe(false);
  expect((await run(id, '')).text).toBe('It ended NOT_STARTED, and nothing ran.');
  await expect(run('another', '')).rejects.toThrow('It is STARTING, and is left as it is.');
});

test('an operator pauses calls with a reason and resumes them, and resumed starts pass every breaker', async () => {
  const store = memoryBreakerStore();
  const breakers = { ...store, list: async () => store.items };
  const opened = { since: at(99).getTime(), pause: 30, turn: { at: at(129).getTime() } };
  const state = { groups: [{ name: 'bank', failed: [], opened }] };
  for (const caller of ['orders', 'billing']) store.items.set(`role/${caller}`, { state, version: '1' });
  const identity = async () => 'arn:aws:iam::1:user/ana';
  const actions = pauseActions({ breakers, identity, now: () => at(100) });
  const run = (id: string, reason = '') => actions.find((action) => action.id === id)?.run('', reason);
  const held = async () => (await readHolds(breakers, at(100))).map(describeHeld);
  const both = ['starts of orders for bank', 'starts of billing for bank'];

  await run('pause-reads', 'quota');
  expect(await held()).toEqual(['reads', ...both]);
  await run('pause-starts', 'maintenance');
  expect(await held()).toEqual(['starts', 'reads', ...both]);
  const [first] = await readHolds(breakers, at(100));
  expect(first).toMatchObject({ since: iso(100), reason: 'maintenance', by: 'arn:aws:iam::1:user/ana' });
  await run('resume-reads');
  expect(await held()).toEqual(['starts', ...both]);
  await run('resume-starts');
  expect(await held()).toEqual([]);
});

describe('all that match a filter of the list are erased', () => {
  const other = idOf(2);
  const records = [
    extractionIn('RUNNING', { reference: 'order-7' }),
    extractionIn('COMPLETED', { extractionId: other, reference: 'order-8' }),
  ];
  const consoleOf = (erase: (extractionId: string) => Promise<void>) => {
    const sources = sourcesWith(records);
    const matching = (query: string) => matchingRecords(query, sources, now());
    const actions = [eraseMatchingAction({ matching, erase })];
    return consoleOver(sources, { actions, now });
  };
  const { now } = clock(100);
  const subject = 'name=order-7';
  const answerTo = async (input: string, erase: (extractionId: string) => Promise<void>) => {
    const { form, path, page } = await consoleOf(erase).submit('erase', { subject, input });
    expect(form).toContain('1 extraction matches this filter now.');
    expect(path).toMatch(/^\/\?name=order-7&did=/);
    return page;
  };

  test('those alone, once their number is typed', async () => {
    const erased: string[] = [];
    const page = await answerTo('1', async (extractionId) => void erased.push(extractionId));
    expect(erased).toEqual([id]);
    expect(page).toContain('1 erasure has begun.');
  });

  test('none, if another number is typed', async () => {
    const page = await answerTo('2', async () => expect.unreachable());
    expect(page).toContain('1 extraction matches now, and another number was typed. Nothing was erased.');
  });

  test('a failure after the first says how many have begun', async () => {
    const { matching, erase } = {
      matching: async () => records,
      erase: async (extractionId: string) => {
        if (extractionId === other) throw new Error('lost');
      },
    };
    const { run } = eraseMatchingAction({ matching, erase });
    await expect(run('', '2')).rejects.toThrow('1 of 2 erasures have begun.');
  });

  test('the list offers it for a filter with rows only', async () => {
    const { text } = consoleOf(async () => undefined);
    const offer = 'id="action-erase"';
    expect(await text('/')).not.toContain(offer);
    expect(await text('/?name=order-9')).not.toContain(offer);
    expect(await text('/?name=order-7&page=1')).toContain('/actions/erase?subject=name%3Dorder-7#result');
    const { get } = consoleOf(async () => undefined);
    expect((await get('/actions/erase?subject=page%3D1')).status).toBe(404);
  });
});
