import { expect, test } from 'vitest';
import { formatOffset } from '../../../../../tools/cli/console/pages/timeline.ts';
import type { Story } from '../../../../../tools/cli/explain/story.ts';
import { consoleOver, denied, sourcesWith } from '../../../../support/console-fixtures.ts';
import { extractionIn, id, iso } from '../../../../support/extraction-fixtures.ts';

const story: Story = {
  extractionId: id,
  status: 'RUNNING',
  headline: "Waits for the provider's webhook until 12:10:00Z.",
  lines: [
    { at: iso(0), lane: 'api', who: 'API', what: 'Somebody requested <b>movement</b>.' },
    {
      at: iso(2),
      lane: 'machine',
      who: 'Step Functions',
      what: 'Try failed with ProviderBusy.',
      attempt: 1,
      nextAt: iso(4),
      verdict: 'failed',
    },
    { at: iso(3), until: iso(60), lane: 'machine', who: 'Step Functions', what: 'State StartTask.' },
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
  expect(page).toContain('try 1, next by 12:00:04.000');
  expect(page).toContain('<li>The functions&#39; log: no permission logs:FilterLogEvents.</li>');
});

test('what is expected to happen is marked as such, and is not drawn', async () => {
  const ends = { at: iso(7_200), lane: 'record', who: 'reconcile', what: 'Ends it TIMED_OUT.' } as const;
  const page = await withStory({ ...story, lines: [...story.lines, ends] }).text(path);
  expect(page).toContain('<span class="badge">expected</span> Ends it TIMED_OUT.');
  expect(page).not.toContain('#line-3');
});

test('each mark of the drawing leads to its line in the list', async () => {
  const page = await withStory().text(path);
  const marks = [...page.matchAll(/href="#(line-\d+)"/g)].map(([, line]) => line);
  expect(marks.toSorted()).toEqual(['line-0', 'line-1', 'line-2']);
  for (const line of marks) expect(page).toContain(`<tr id="${line}">`);
});

test('a range in the address is drawn, and the links zoom in it', async () => {
  const page = await withStory().text(`${path}?from=1000&to=5000`);
  expect(page).toContain('1 s to 5 s');
  expect(page).toContain('href="?from=2000&amp;to=4000">Zoom in</a>');
});

test('the story is there as text and as JSON', async () => {
  const { get, text } = withStory();
  expect(await text(`${path}/story.txt`)).toContain(
    'Try failed with ProviderBusy.  [try 1, next 12:00:04.000Z]',
  );
  expect(await (await get(`${path}/story.json`)).json()).toEqual(story);
  expect((await get(`/extractions/${id.replace('1', '9')}/story.html`)).status).toBe(404);
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

test('an unknown extraction and an unknown page are 404', async () => {
  const { get } = consoleOver(sourcesWith([]));
  for (const unknown of [path, `${path}/story.txt`, '/extractions/none', '/nothing', '/assets/app.ts']) {
    expect((await get(unknown)).status).toBe(404);
  }
});

test('a missing permission is named', async () => {
  const { text } = consoleOver(sourcesWith([], { record: () => denied('dynamodb:GetItem') }));
  expect(await text(path)).toContain('The record: not shown.');
});

test.each([
  [0, '0 s'],
  [250, '250 ms'],
  [1_250, '1.25 s'],
  [125_000, '2 min 5 s'],
  [7_200_000, '2 h'],
  [12_000_000, '3 h 20 min'],
])('%d ms are %s', (ms, text) => {
  expect(formatOffset(ms)).toBe(text);
});
