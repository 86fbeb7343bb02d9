import { expect, test } from 'vitest';
import { userTexts } from '#lib/downstream/user-texts.ts';
import { advices } from '#lib/extraction/advice.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { commandIn } from '#support/command-shell.ts';
import { at, closedExtraction, extractionIn, iso } from '#support/data/extraction-fixtures.ts';
import { type FindOptions, matches, selectOpen } from '#tools/cli/aws/find-extractions.ts';
import { describeNone } from '#tools/cli/commands/list.ts';
import {
  adviceSummary,
  csvLines,
  describeNext,
  openRows,
  outcomeRows,
} from '#tools/cli/commands/list-rows.ts';
import { output } from '#tools/cli/commands/output.ts';

const later = extractionIn('RUNNING', { dueAt: iso(20), requestedAt: iso(5) });
const earlier = extractionIn('REQUESTED', { dueAt: iso(10), reference: 'order-7' });
const closed = closedExtraction({ status: 'COMPLETED', collectedAt: iso(31) });

test('open extractions are listed, those that are due for longest first', () => {
  expect(selectOpen([later, closed, earlier], {}, at(60))).toEqual([earlier, later]);
});

const failed = closedExtraction({
  status: 'FAILED',
  reference: '=cmd|calc',
  settledAt: iso(30),
  collectedAt: iso(31),
  actionResults: [
    { id: 'movement', status: 'FAILED', errorCode: 'TIMEOUT_ERROR' },
    { id: 'product-balance', status: 'FAILED', errorCode: 'REQUEST_BLOCK_ERROR' },
  ],
});
const rejected = extractionIn('REJECTED');

test.each<[FindOptions, readonly Extraction[]]>([
  [{ status: ['RUNNING', 'REQUESTED'] }, [later, earlier]],
  [{ reference: 'order-7' }, [earlier]],
  [{ entity: 'bank', caller: 'Caller', status: ['FAILED'] }, [failed]],
  [{ caller: 'Call' }, []],
  [{ advice: ['todo'] }, [failed, rejected]],
  [{ advice: ['request-later', 'none'] }, [closed, failed]],
  // The first was requested at 5 s. The others ended at 30 s.
  [{ since: () => at(30) }, [closed, failed, rejected]],
  [{ since: () => at(1), until: () => at(30) }, [later]],
])('%j finds the extractions that match all of it', (asked, found) => {
  const all = [later, closed, earlier, failed, rejected];
  expect(all.filter((record) => matches(record, asked, at(60)))).toEqual(found);
});

test('where nothing is listed, the sentence names how to list what ended, unless a filter was given', () => {
  expect(describeNone('open', false)).toMatch(
    /^No extraction is open\. .*--advice.*--status.*--reference.*--batch/,
  );
  expect(describeNone('known', true)).toBe('No extraction matches.');
});

test('a row of an open extraction names entity, caller, what comes next and why', () => {
  const of = (startAt?: string) => (record: Extraction) =>
    describeNext(record, { now: at(5), sweepEveryMinutes: 5, startAt: () => startAt });
  const waiting = { ...earlier, lastProblem: 'http-429' };
  const [heading = '', row = ''] = openRows([waiting], at(5), of());
  expect(heading.split(/ {2,}/).slice(2)).toEqual(['ENTITY', 'CALLER', 'AGE', 'NEXT RECONCILE', 'REASON']);
  expect(row.split(/ {2,}/).slice(1)).toEqual(['REQUESTED', 'bank', 'Caller', '5 s', 'in 5 s', 'http-429']);
  expect(openRows([waiting], at(5), of(iso(35)))[1]).toContain('in line, starts in 30 s');
});

test('an outcome has status, advice, since when, bank, reference and each error code within 100 columns', () => {
  const long = { ...failed, entity: 'b'.repeat(60), reference: 'r'.repeat(256) };
  const [heading, ...printed] = outcomeRows([failed, long, rejected], () => '');
  const lines = [heading ?? '', ...printed].flat();
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  const why = 'movement: TIMEOUT_ERROR; product-balance: REQUEST_BLOCK_ERROR';
  const [line = '', below] = printed[0] ?? [];
  const since = `${iso(30).slice(5, 10)} ${iso(30).slice(11, 16)}Z`;
  const cells = [failed.extractionId.slice(0, 8), 'FAILED', 'request-later', since, 'bank', '=cmd|calc'];
  expect([line.split(/ {2,}/), below]).toEqual([cells, `          ${why}`]);
  expect(printed[2]).toMatch(/REJECTED +fix-request .* http-400$/);
});

test('a line for each advice has how many, and a text for their users in both languages', () => {
  expect(adviceSummary([closed, failed, failed])).toEqual([
    '2 request-later',
    `  ${advices['request-later']}`,
    `  to the user, en: ${userTexts.advice['request-later'].en}`,
    `  to the user, es-CL: ${userTexts.advice['request-later']['es-CL']}`,
  ]);
});

test('a spreadsheet takes no text of a caller for a formula, and keeps commas and quotes', () => {
  const [heading = '', one = '', other = ''] = csvLines([failed, { ...closed, reference: 'a,"b"' }]);
  expect(heading).toMatch(/^extractionId,reference,batch,requestedBy,entity,.*,why,advice,.*,en,es-CL$/);
  expect(one).toContain(",'=cmd|calc,");
  expect(one).toMatch(/,Your bank did not answer in time\. Your data are not .*,Tu banco no respondió/);
  expect(other).toContain(',"a,""b""",');
});

test.each([
  ['on AWS', false, 'https://of-the-stack'],
  ['on an emulator, as it serves it', true, 'http://127.0.0.1:4566/api'],
])('output prints the address of the API %s', async (_, isEmulated, address) => {
  const api = { base: 'http://127.0.0.1:4566/api', webhookUrl: 'http://127.0.0.1:4566/api/webhook' };
  const deployment = { api, isEmulated, output: () => 'https://of-the-stack' };
  const { context, printed, facts } = commandIn(deployment);
  expect(await output('ApiUrl', {}, context)).toBe(0);
  expect([printed, facts]).toEqual([[address], [{ name: 'ApiUrl', value: address }]]);
});
