import { expect, test } from 'vitest';
import { userTexts } from '#lib/downstream/user-texts.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { consoleOver, denied, sourcesWith, wordsOf } from '#support/browser/console-fixtures.ts';
import { closedExtraction, extractionIn, id, idOf, iso } from '#support/data/extraction-fixtures.ts';
import type { ConsoleSources } from '#tools/cli/console/sources/sources.ts';
import type { Trying } from '#tools/cli/explain/execution-progress.ts';

const settled = {
  settledBy: 'webhook',
  settledAt: iso(42),
  collectedAt: iso(43),
  results: { bucket: 'the-bucket', key: 'the-key', bytes: 2_489, sha256: 's' },
} as const;

/** Each list of counts, as a text. */
const facetsOf = (page: string): readonly string[] =>
  [...page.matchAll(/<ul class="facets"[^>]*>(.*?)<\/ul>/gs)].map(([, items = '']) =>
    [...items.matchAll(/<li>(.*?)<\/li>/gs)].map(([, item = '']) => wordsOf(item)).join(', '),
  );

/** The first page over these records. */
const pageOf = (records: readonly Extraction[], more: Partial<ConsoleSources> = {}) =>
  consoleOver(sourcesWith(records, more)).text('/');

test('the first line answers whether anything is overdue', async () => {
  // After three intervals of the sweep, 15 minutes. The console shows 100 s.
  const overdue = extractionIn('RUNNING', { dueAt: iso(100 - 901) });
  expect(await pageOf([overdue])).toContain('<h1 id="result" tabindex="-1">1 extraction is overdue.</h1>');
  const onTime = '<h1 id="result" tabindex="-1">1 extraction is open, and none is overdue.</h1>';
  for (const dueAt of [iso(100 - 900), iso(200)])
    expect(await pageOf([extractionIn('RUNNING', { dueAt })])).toContain(onTime);
});

/** Of today, as the pages over it are. */
const { requestedBy: caller } = extractionIn('REQUESTED');
const lane = { caller, priority: 'background' } as const;
const place = { ...lane, group: 'bank', at: iso(0) };
const times = { since: iso(40), nextTurnAt: iso(140) };
const open = { ...times, kind: 'open', calls: 'starts', caller, cause: 'http-503' } as const;

const [requested, running] = [extractionIn('REQUESTED'), extractionIn('RUNNING')];
const unreachable = { does: 'start', tries: 3, error: 'ProviderUnreachable', nextAt: iso(108) } as const;
const held = { error: 'Waits', problem: 'held/http-503' };
const wasHeld =
  'waits to be started · try 4 is under way, before: starts were held, because the last one failed: the provider answered with HTTP 503';
const due = 'the next sweep queues it · due for 11 s · waits for the webhook';
const notReached = 'waits to be started · try 3: the provider could not be reached · next within 8 s';

test.each<[string, Extraction, Trying?]>([
  [notReached, requested, unreachable],
  [wasHeld, requested, { ...held, does: 'wait', tries: 4, nextAt: iso(700) }],
  ['is polled · 12 polls · next within 1 s', running, { does: 'poll', tries: 12, nextAt: iso(101) }],
  ['waits for the webhook · is polled in 8 min 21 s', running, { does: 'wait', tries: 1, nextAt: iso(601) }],
  [due, extractionIn('RUNNING', { dueAt: iso(89) })],
  ['by the webhook · results collected', closedExtraction({ status: 'COMPLETED', ...settled })],
])('a row says what happens next, or how it ended: %s', async (next, record, trying) => {
  const tries = async () => (trying === undefined ? [] : [[id, trying] as const]);
  expect(await pageOf([record], { tries })).toContain(`>${next}<`);
});

test('a row in line says when it will start, and the strip how many wait', async () => {
  const waiting = [1, 2].map((digit) => ({ ...place, extractionId: idOf(digit) }));
  const rate = async () => ({ lanes: [{ ...lane, waiting }], perSecond: 0.1, from: 'learnt' }) as const;
  const records = [1, 2].map((digit) => extractionIn('REQUESTED', { extractionId: idOf(digit) }));
  const { text } = consoleOver(sourcesWith(records, { rate }));
  const page = await text('/');
  expect(page).toContain('>in line · starts in about 10 s<');
  expect(page).toContain('>in line · starts in about 20 s<');
  expect(wordsOf(page)).toContain('2 starts wait in line, and the last one starts in about 20 s (12:02:00Z)');
  expect(page).toContain('>2 in line</a>');
  expect((await text('/?status=line')).match(/<tr data-key/g)).toHaveLength(2);
  expect(wordsOf(await text(`/extractions/${idOf(2)}`))).toContain(
    'Startin line · starts in about 20 s (12:02:00Z)',
  );
  const held = consoleOver(sourcesWith(records, { rate, holds: async () => [open] }));
  expect(await held.text('/')).toContain('>starts are held, next turn in 40 s · next reconcile');
});

test('a row that a hold keeps waiting says so, and another does not', async () => {
  const reads = { kind: 'paused', calls: 'reads', since: iso(1), reason: 'x' } as const;
  const page = await pageOf(
    [
      extractionIn('REQUESTED'),
      extractionIn('REQUESTED', { extractionId: idOf(2), entity: 'another-bank' }),
      extractionIn('RUNNING', { extractionId: idOf(3) }),
    ],
    { holds: async () => [{ ...open, group: 'bank' }] },
  );
  expect(page.match(/>starts are held, next turn in 40 s · next reconcile/g)).toHaveLength(1);
  const starting = await pageOf([extractionIn('STARTING')], { holds: async () => [reads] });
  expect(starting).not.toContain('reads are paused ·');
});

test('a row has the caller, and what it is sorted by', async () => {
  const page = await pageOf([
    extractionIn('RUNNING', { requestedBy: 'arn:aws:sts::111122223333:assumed-role/billing' }),
    closedExtraction({ status: 'COMPLETED', ...settled, extractionId: idOf(2), requestedAt: iso(-7_200) }),
  ]);
  expect(page).toContain(
    'title="arn:aws:sts::111122223333:assumed-role/billing"><span class="cut">billing</span></td>',
  );
  expect(page).toMatch(/data-label="Requested"><span class="cut"><time [^>]*datetime="2026-03-01T12:00:00/);
  // It was requested two hours ago, and is among those that ended last.
  expect(page).toMatch(/data-label="Ended"><span class="cut"><time [^>]*datetime="2026-03-01T12:00:42/);
  expect(
    wordsOf(/data-label="Duration".*/.exec(page.slice(page.indexOf('class="ended"')))?.[0] ?? ''),
  ).toContain('2 h');
});

test('a search names what it left out, and a list without one does not', async () => {
  const records = [extractionIn('RUNNING'), closedExtraction({ status: 'COMPLETED', ...settled })];
  const { text } = consoleOver(sourcesWith(records));
  const missed =
    'open or ended in the last 6 hours. Any older one is found by its whole id, task, reference or batch alone.';
  expect(await text('/?caller=nobody&since=6h')).toContain(missed);
  expect(await text('/?since=6h')).not.toContain('Searched');
});

test('300 rows are a page, and a link leads to the next with the filters', async () => {
  const records = Array.from({ length: 301 }, (_, index) =>
    extractionIn('RUNNING', { extractionId: idOf(index) }),
  );
  const { text } = consoleOver(sourcesWith(records));
  const first = await text('/?status=open');
  expect(first.match(/<tr data-key/g)).toHaveLength(300);
  expect(first).toContain('href="?status=open&amp;page=2#rows">Next 300</a>');
  const second = await text('/?status=open&page=2');
  expect(second.match(/<tr data-key/g)).toHaveLength(1);
  expect(second).toContain('>301 open</a>');
  expect(await text('/?page=nonsense')).toContain('Page 1 of 2');
});

test('failures are grouped by cause and entity, the most frequent first, and a row has the codes in words', async () => {
  const failed = (index: number, errorCode: string, entity = 'demo-bank') =>
    closedExtraction({
      extractionId: idOf(index),
      status: index === 3 ? 'PARTIAL' : 'FAILED',
      entity,
      actionResults: [{ id: 'movement', status: 'FAILED', errorCode }],
      ...settled,
    });
  const records = [
    failed(2, 'ACTION_ERROR', 'other-bank'),
    failed(3, 'TIMEOUT_ERROR'),
    failed(4, 'TIMEOUT_ERROR'),
    failed(7, 'ACTION_ERROR'),
    closedExtraction({ extractionId: idOf(5), status: 'CREDENTIALS_WRONG', ...settled }),
    closedExtraction({ status: 'COMPLETED', ...settled }),
    extractionIn('RUNNING', { extractionId: idOf(6) }),
  ];
  const { text } = consoleOver(sourcesWith(records));
  const page = await text('/?since=6h');
  expect(facetsOf(page)).toEqual([
    '7 all, 1 open, 0 overdue, 0 in line, 6 ended, 4 failed',
    '2 TIMEOUT_ERROR at demo-bank since 12:00Z, 1 ACTION_ERROR at other-bank since 12:00Z, 1 ACTION_ERROR at demo-bank since 12:00Z',
    '4 request-again, 1 ask-user',
    '3 demo-bank, 3 bank, 1 other-bank',
  ]);
  const toAsk = wordsOf(await text('/?since=6h&advice=ask-user'));
  expect(toAsk).toContain('1 extraction matches.');
  expect(toAsk).toContain(
    `For the user: ${userTexts.advice['ask-user'].en} en ${userTexts.advice['ask-user']['es-CL']}`,
  );
  expect(page).toContain(
    'movement: TIMEOUT_ERROR (the maximum operation time was exceeded) · by the webhook · results collected',
  );
  const [, link = ''] = /href="([^"]+)">2 TIMEOUT_ERROR/.exec(page) ?? [];
  expect(link).toBe(
    '?since=6h&amp;status=failed&amp;method=credentials&amp;subject=demo-bank&amp;cause=TIMEOUT_ERROR#result',
  );
  const narrowed = await text(`/${link.replaceAll('&amp;', '&').replace('#result', '')}`);
  expect(wordsOf(narrowed)).toContain('2 extractions match.');
  // Each count leaves out its own filter, and what is chosen ends it.
  expect(facetsOf(narrowed)[1]).toMatch(/^2 TIMEOUT_ERROR at demo-bank .*, 1 ACTION_ERROR at other-bank/);
  expect(narrowed).toContain('href="?since=6h#result" aria-current="true">2 TIMEOUT_ERROR');
  expect(wordsOf(narrowed)).toContain('Without cause: TIMEOUT_ERROR');
});

test('a text of a caller is escaped, its control characters are visible, and it is there as a whole', async () => {
  const reference = `<script>alert(1)</script>\u001b[2J${'x'.repeat(227)}`;
  expect(reference).toHaveLength(256);
  const page = await pageOf([extractionIn('RUNNING', { reference })]);
  expect(page).not.toContain('<script>alert');
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\\u001b[2J');
  // As a text, since neither touch nor a keyboard reaches a title.
  expect(wordsOf(page)).toContain('x'.repeat(227));
  const echoed = await consoleOver(sourcesWith([])).text('/?name=%22%3E%3Cimg%20src%3Dx%3E');
  expect(echoed).toContain('&quot;&gt;&lt;img src=x&gt;');
});

test('a fingerprint, a bucket, a key and a request id are not on the list', async () => {
  const record = closedExtraction({ status: 'COMPLETED', ...settled, requestId: 'the-request-id' });
  const page = await pageOf([record]);
  for (const value of [record.fingerprint, 'the-bucket', 'the-key', 'the-request-id'])
    expect(page).not.toContain(value);
});

test.each([
  ['/', 'Extractions that ended'],
  ['/deliveries', 'Deliveries'],
  ['/health', 'Entities and products'],
  ['/health', 'Sweeps'],
  ['/health', 'Queues'],
  ['/line', 'What happened'],
  [`/extractions/${id}`, 'The record'],
])('on %s, a part that the operator may not read is named, and why: %s', async (path, part) => {
  const no = () => denied('logs:FilterLogEvents');
  const own = { recent: no, deliveries: no, subjects: no, record: no, sweeps: no, queues: no, line: no };
  expect(await consoleOver(sourcesWith([], own)).words(path)).toContain(
    `${part}: not shown. AWS does not allow arn:aws:iam::1:user/ana to logs:FilterLogEvents`,
  );
});

test('what could be read is shown', async () => {
  const page = await pageOf([extractionIn('REQUESTED')], {
    recent: () => denied('states:ListExecutions'),
    tries: () => denied('states:GetExecutionHistory'),
  });
  expect(page).toContain('waits to be started · next reconcile');
  const nothing = await pageOf([], { open: () => denied('dynamodb:Query') });
  expect(nothing).toContain('<h1 id="result" tabindex="-1">What is open could not be read.</h1>');
});

test('a closed row has the advice for its caller, with its meaning', async () => {
  const page = await pageOf([closedExtraction({ status: 'CREDENTIALS_WRONG', ...settled })]);
  expect(page).toMatch(/data-label="Advice" title="The user corrects[^"]+"><span class="cut">ask-user</);
});

test('an extraction of any age is found by its whole id, by that of its task, and by its whole reference or batch', async () => {
  const taskId = '4e976a4a-dc85-4045-acc8-57b7b57a733f';
  const old = closedExtraction({ status: 'FAILED', taskId, reference: 'order 7', batch: 'b 1' });
  const { text } = consoleOver(sourcesWith([old], { recent: async () => ({ items: [], complete: true }) }));
  expect(await text('/?name=order')).toContain('No extraction matches.');
  for (const query of [`name=${id}`, `name=${taskId}`, 'name=order%207', 'batch=b%201'])
    expect(await text(`/?${query}`)).toContain(`/extractions/${id}`);
});

test('a defect is reported on the terminal, and its text is not on the page', async () => {
  const defect = new TypeError('a value of a record');
  const { get, errors } = consoleOver(sourcesWith([], { open: () => Promise.reject(defect) }));
  const answer = await get('/');
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain('a value of a record');
  expect(errors).toEqual([defect]);
});
