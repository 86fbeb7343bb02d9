import { expect, test } from 'vitest';
import { consoleOver, sourcesWith, wordsOf } from '#support/browser/console-fixtures.ts';
import { closedExtraction, extractionIn, id, iso } from '#support/data/extraction-fixtures.ts';
import { formatOffset } from '#tools/cli/console/format-for-page.ts';
import type { Story } from '#tools/cli/explain/story.ts';

const tried = { lane: 'machine', source: 'Step Functions', what: 'Try failed with ProviderBusy.' } as const;
const story: Story = {
  extractionId: id,
  status: 'RUNNING',
  headline: "Waits for the provider's webhook until 12:10:00Z.",
  lines: [
    { at: iso(0), lane: 'api', source: 'API', what: 'Somebody requested <b>movement</b>.' },
    { ...tried, at: iso(2), attempt: 1, nextAt: iso(4), verdict: 'failed' },
    { at: iso(3), until: iso(60), lane: 'machine', source: 'Step Functions', what: 'State StartTask.' },
  ],
  notShown: ["The functions' log: no permission logs:FilterLogEvents."],
};

const path = `/extractions/${id}`;
const record = extractionIn('RUNNING', { reference: '<b>mine</b>' });
const withStory = (over = story) => consoleOver(sourcesWith([record], { story: async () => over }));

test('the first line is the headline of the story, and every line of it is on the page, escaped', async () => {
  const page = await withStory().text(path);
  expect(page).toContain('<h1>Waits for the provider&#39;s webhook until 12:10:00Z.</h1>');
  expect(page).toContain('Somebody requested &lt;b&gt;movement&lt;/b&gt;.');
  expect(page).toMatch(/try 1<\/span>, <span class="quiet">next by <time [^>]*>12:00:04\.000</);
  expect(page).toContain('<li>The functions&#39; log: no permission logs:FilterLogEvents.</li>');
});

test('the page begins with what somebody who is woken by it asks', async () => {
  const page = await withStory().text(path);
  const [, block = ''] = /<dl class="facts">(.*?)<\/dl>/s.exec(page) ?? [];
  const rows = [...block.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)];
  const texts = rows.map(([, name, value = '']) => `${name}: ${wordsOf(value)}`);
  expect(texts).toEqual([
    'What to do: Nothing. It goes on by itself.',
    'Last problem: Try failed with ProviderBusy.',
    'Entity: bank',
    'Reference: &lt;b&gt;mine&lt;/b&gt;',
    'Batch: none',
    'Caller: Caller arn:aws:sts::111122223333:assumed-role/Caller',
    'Method: credentials',
    'How long: 1 min so far',
  ]);
  // The drawing is above it, and the events below.
  expect(page.indexOf('id="timeline"')).toBeLessThan(page.indexOf(block));
  expect(page.indexOf(block)).toBeLessThan(page.indexOf('<h2>Events'));
  expect(page).toContain('?name=%3Cb%3Emine%3C%2Fb%3E#result">&lt;b&gt;mine&lt;/b&gt;</a>');
});

test('a status that is its own reason has no last problem, and a text for the user', async () => {
  const wrong = closedExtraction({ status: 'CREDENTIALS_WRONG', settledAt: iso(50) });
  const wrote = { lane: 'record', source: 'Webhook', what: 'Wrote CREDENTIALS_WRONG.' } as const;
  const over: Story = { ...story, lines: [{ ...wrote, at: iso(50), verdict: 'failed' }] };
  const page = await consoleOver(sourcesWith([wrong], { story: async () => over })).text(path);
  expect(page).toContain('<dt>Last problem</dt><dd>none</dd>');
  expect(page).toMatch(/<dt>For the user<\/dt><dd><span lang="en">Your bank refused/);
});

test('the events can be filtered by source, and the marks of the others lead to where they were', async () => {
  const { text } = withStory();
  expect(await text(path)).toContain('?source=Step+Functions#rows">2 Step Functions</a>');
  const page = await text(`${path}?source=Step+Functions`);
  expect([...page.matchAll(/<tr id="(line-\d)"/g)].map(([, row]) => row)).toEqual(['line-1', 'line-2']);
  expect(page).toContain('<span id="line-0"></span>');
  expect(page).toContain('href="?#rows">3 all</a>');
});

test('what is expected to happen is marked as such in the list, and dashed in the drawing', async () => {
  const ends = { at: iso(7_200), lane: 'record', source: 'reconcile', what: 'Ends it TIMED_OUT.' } as const;
  const page = await withStory({ ...story, lines: [...story.lines, ends] }).text(path);
  expect(page).toContain('<span class="badge">expected</span> Ends it TIMED_OUT.');
  const mark = '<title>Expected: [^<]*Ends it TIMED_OUT\\.</title>\\s*<circle class="mark plain expected"';
  expect(page).toMatch(new RegExp(`href="#line-3">${mark}`));
});

test('several lines at almost the same time are one mark with their number, which leads to the first', async () => {
  const close = [2, 2.5].map((seconds) => ({ ...tried, at: iso(seconds) }));
  const page = await withStory({ ...story, lines: [...story.lines.slice(0, 1), ...close] }).text(path);
  expect(page).toMatch(/<a href="#line-1"><title>(.|\n)*?>2<\/text><\/a>/);
});

test('equal lines fold as `explain` folds them, and a link shows all', async () => {
  const lines = Array.from({ length: 9 }, (_, index) => ({ ...tried, at: iso(10 + index) }));
  const { text } = withStory({ ...story, lines });
  const page = await text(path);
  expect(page).toContain('<a href="?lines=all#line-1">7 more of these</a>');
  expect(page.match(/<tr id=/g)).toHaveLength(2);
  expect((await text(`${path}?lines=all`)).match(/<tr id=/g)).toHaveLength(9);
});

test('a time of another day has its day, and `expiresAt` is a date', async () => {
  const old = { ...story, lines: [{ ...tried, at: '2026-02-27T23:59:59.000Z' }] };
  const closed = closedExtraction({ status: 'FAILED', expiresAt: 1_785_000_000 });
  const page = await consoleOver(sourcesWith([closed], { story: async () => old })).text(path);
  expect(page).toContain('>2026-02-27 23:59:59.000</time>');
  expect(page).toContain('<dt>expiresAt</dt><dd>2026-07-25T17:20:00.000Z</dd>');
});

test('the story is there as text and as JSON', async () => {
  const { get, text } = withStory();
  const line = 'Try failed with ProviderBusy.  [try 1, next 12:00:04.000Z]';
  expect(await text(`${path}/story.txt`)).toContain(line);
  expect(await (await get(`${path}/story.json`)).json()).toEqual(story);
});

test('the page has the record as `cosecha get` prints it, escaped and without its fingerprint', async () => {
  const page = await consoleOver(sourcesWith([record])).text(path);
  expect(page).toContain('<dt>taskId</dt><dd>task-1</dd>');
  expect(page).toContain('&lt;b&gt;mine&lt;/b&gt;');
  expect(page).not.toContain(record.fingerprint);
});

test('an erased extraction has its story, and no record any more', async () => {
  const gone = { ...story, status: 'GONE', headline: 'It was erased.' };
  const page = await consoleOver(sourcesWith([], { story: async () => gone })).text(path);
  expect(page).toContain('<h1>It was erased.</h1>');
  expect(page).toContain('There is no record any more.');
});

test('an unknown extraction is 404, and so is its story', async () => {
  const { get } = consoleOver(sourcesWith([]));
  for (const unknown of [path, `${path}/story.txt`]) expect((await get(unknown)).status).toBe(404);
});

test.each([
  [0, '0 s'],
  [250, '250 ms'],
  [1_250, '1.25 s'],
  [125_000, '2 min 5 s'],
])('%d ms are %s', (ms, text) => {
  expect(formatOffset(ms)).toBe(text);
});
