import { expect, test, vi } from 'vitest';
import type { CommandContext } from '../../../../../tools/cli/commands/command-context.ts';
import { describeNone, rows, selectOpen } from '../../../../../tools/cli/commands/list.ts';
import { ended } from '../../../../../tools/cli/commands/logs.ts';
import { output } from '../../../../../tools/cli/commands/output.ts';
import { at, closedExtraction, extractionIn, iso } from '../../../../support/data/extraction-fixtures.ts';

const later = extractionIn('RUNNING', { dueAt: iso(20), requestedAt: iso(5) });
const earlier = extractionIn('REQUESTED', { dueAt: iso(10), reference: 'order-7' });
const closed = closedExtraction({ status: 'COMPLETED' });

test('open extractions are listed, those that are due for longest first', () => {
  expect(selectOpen([later, closed, earlier], {})).toEqual([earlier, later]);
});

test.each([
  [{ status: 'RUNNING' }, [later]],
  [{ status: 'COMPLETED' }, []],
  [{ reference: 'order-7' }, [earlier]],
  [{ since: iso(1) }, [later]],
  [{ since: iso(1), reference: 'order-7' }, []],
] as const)('%j selects the extractions that match all of it', (filter, selected) => {
  expect(selectOpen([later, closed, earlier], filter)).toEqual(selected);
});

test('where nothing is listed, the sentence names how to list what ended, unless a filter was given', () => {
  expect(describeNone('open', false)).toMatch(/^No extraction is open\. .*--status.*--reference.*--batch/);
  expect(describeNone('known', true)).toBe('No extraction matches.');
});

test('a row names entity, caller, and of a closed extraction its end and why', () => {
  const [heading = '', open = '', rejected = ''] = rows([earlier, extractionIn('REJECTED')], at(5), 5);
  expect(heading.split(/ {2,}/).slice(2)).toEqual([
    'ENTITY',
    'CALLER',
    'AGE',
    'NEXT RECONCILE, OR END',
    'REASON',
  ]);
  expect(open.split(/ {2,}/).slice(1)).toEqual(['REQUESTED', 'bank', 'Caller', '5 s', 'in 5 s']);
  expect(rows([earlier], at(5), 5, () => iso(35))[1]).toContain('in line, starts in 30 s');
  expect(rejected.split(/ {2,}/).slice(1)).toEqual([
    'REJECTED',
    'bank',
    'Caller',
    '5 s',
    `ended ${iso(30).slice(0, 19)}Z`,
    'http-400',
  ]);
  const late = extractionIn('NOT_STARTED', { reason: 'start-window-over', lastProblem: 'quota-reached' });
  expect(rows([late], at(5), 5)[1]).toMatch(/ {2}start-window-over: quota-reached$/);
});

test('what ended is asked of the logs with one query, the earliest first, and printed with its time', async () => {
  const found = { timestamp: iso(30), extractionId: 'e-1', reason: 'http-400', entity: 'bank' };
  const results = [Object.entries(found).map(([field, value]) => ({ field, value }))];
  const answers = [{ queryId: 'q' }, { status: 'Complete', results }];
  const asked: Record<string, unknown>[] = [];
  const handle = async ({ body }: { readonly body: Uint8Array }) => {
    asked.push(JSON.parse(Buffer.from(body).toString()));
    const answer = new TextEncoder().encode(JSON.stringify(answers.shift()));
    return { response: { statusCode: 200, headers: {}, body: answer } };
  };
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const print = vi.fn();
  const shell = { now: () => at(60), sleep: async () => {}, wait: () => {}, hint: () => {}, print };
  const deployment = {
    client: { region: 'eu-west-1', credentials, requestHandler: { handle } },
    isEmulated: false,
    resources: async () => ['S-StartTaskLog1', 'S-ReceiveWebhookLog2', 'S-GetExtractionLog3'],
  };
  const context = { shell, connect: async () => deployment } as unknown as CommandContext;
  expect(await ended('REJECTED', { since: () => at(0) }, context)).toBe(0);
  // The order of a sort without one is not documented, and a query returns its first 10,000 rows.
  expect(asked[0]).toMatchObject({
    logGroupNames: ['S-StartTaskLog1', 'S-ReceiveWebhookLog2'],
    queryString: expect.stringMatching(
      /^fields timestamp, .* \| filter message = 'Extraction ended\.' and status = 'REJECTED' \| sort @timestamp asc \| dedup extractionId$/,
    ),
  });
  const facts = { at: iso(30), extractionId: 'e-1', reason: 'http-400', entity: 'bank', product: undefined };
  expect(print).toHaveBeenCalledExactlyOnceWith(`${iso(30)}  e-1  http-400  bank`, facts);
});

test.each([
  ['on AWS', false, 'https://of-the-stack'],
  ['on an emulator, as it serves it', true, 'http://127.0.0.1:4566/api'],
])('output prints the address of the API %s', async (_, isEmulated, address) => {
  const print = vi.fn();
  const api = { base: 'http://127.0.0.1:4566/api', webhookUrl: 'http://127.0.0.1:4566/api/webhook' };
  const deployment = { api, isEmulated, output: () => 'https://of-the-stack' };
  const context = { shell: { print }, connect: async () => deployment } as unknown as CommandContext;
  expect(await output('ApiUrl', {}, context)).toBe(0);
  expect(print).toHaveBeenCalledExactlyOnceWith(address, { name: 'ApiUrl', value: address });
});
