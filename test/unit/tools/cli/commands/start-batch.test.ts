import { describe, expect, test } from 'vitest';
import { defined } from '#lib/defined.ts';
import type { BatchSummary } from '#lib/extraction/api/public-view.ts';
import { commandIn } from '#support/command-shell.ts';
import { start } from '#tools/cli/commands/start.ts';
import { warningOf } from '#tools/cli/commands/start-batch.ts';
import { parseBatchFile } from '#tools/cli/operate/parse-batch-file.ts';
import { decodeText } from '#tools/cli/terminal/decode-text.ts';
import type { StartRate } from '#tools/cli/terminal/describe-rate.ts';

const request = (reference: string, more: object = {}) => ({
  entity: 'bank',
  credentials: { mode: 'raw', value: { username: 'u', password: 'SENTINEL' } },
  actions: [{ id: 'tef' }],
  reference,
  ...more,
});
const fileOf = (...lines: readonly (object | string)[]): string =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

describe('a file of requests', () => {
  const failureOf = (text: string): { readonly lines: readonly string[] } => {
    try {
      parseBatchFile(text, 'b', {});
    } catch (error) {
      return error as { readonly lines: readonly string[] };
    }
    throw new Error('The file was accepted.');
  };

  test('has one a line, with a key or without, and lines between them that are empty', () => {
    const text = fileOf(request('1'), '', request('2', { idempotencyKey: 'own', batch: 'b' }), '');
    expect(parseBatchFile(text.replaceAll('\n', '\r\n'), 'b', {}).map(({ number }) => number)).toEqual([
      1, 3,
    ]);
  });

  test('that is wrong is refused as a whole, by the numbers of its lines and nothing of what is in them', () => {
    const { lines } = failureOf(
      fileOf(
        request('1'),
        '{"password": "SENTINEL',
        '{"entity":"SENTINEL","entity":"SENTINEL"}',
        request('4', { actions: [] }),
        request('5', { idempotencyKey: 'SENTINEL€' }),
        request('6', { batch: 'SENTINEL' }),
        '["SENTINEL"]',
        request('1', { credentials: { mode: 'persisted', value: 'SENTINEL' } }),
        '"SENTINEL"',
      ),
    );
    const sentences = lines.join('\n');
    expect(sentences).not.toContain('SENTINEL');
    for (const number of [2, 3, 4, 5, 6, 7, 8, 9])
      expect(sentences).toMatch(new RegExp(`^Line ${number}\\b`, 'm'));
    expect(sentences).toContain(
      'Line 8 shows the same as line 1. Give each a reference or an idempotencyKey.',
    );
    expect(lines.at(-1)).toBe('Nothing was requested.');
  });

  test('has 1 to 10,000, and of many mistakes twenty are named', () => {
    expect(failureOf('\n\n').lines).toEqual(['The file has no request.']);
    const many = Array.from({ length: 10_001 }, (_, index) => request(String(index)));
    expect(failureOf(fileOf(...many)).lines.join()).toContain('more than 10,000 requests');
    expect(failureOf(fileOf(...many.map(() => '{'))).lines.slice(-2)[0]).toBe('And 9,981 more.');
  });

  test('that is not UTF-8 is refused by the number of the line', () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"ñ"}\n{"a":"'), Buffer.from([0xf1]), Buffer.from('"}\n')]);
    expect(() => decodeText(bytes, 'r.jsonl')).toThrow('r.jsonl, line 2, is not UTF-8.');
  });
});

/** `start --batch b` over an API that knows keys, and has these summaries one after the other. */
const run = (text: string, options: object = {}, columns?: number) => {
  const keys = new Set<string>();
  const summaries: BatchSummary[] = [
    {
      batch: 'b',
      extractions: 2,
      isComplete: true,
      open: 2,
      counts: [{ status: 'RUNNING', extractions: 2 }],
    },
    {
      batch: 'b',
      extractions: 2,
      isComplete: true,
      open: 0,
      counts: [
        { status: 'COMPLETED', advice: 'none', extractions: 1 },
        { status: 'COMPLETED', extractions: 1 },
        { status: 'FAILED', advice: 'request-again', extractions: 1 },
      ],
    },
  ];
  const paths: string[] = [];
  const fetch = async (url: string, init?: RequestInit) => {
    paths.push(new URL(url).pathname);
    if (init?.method !== 'POST')
      return Response.json(summaries.length > 1 ? summaries.shift() : summaries[0]);
    const key = new Headers(init.headers).get('idempotency-key') ?? '';
    const headers = keys.has(key) ? { 'idempotency-replayed': 'true' } : new Headers();
    keys.add(key);
    if (String(init.body).includes('refused')) return new Response('{}', { status: 422 });
    return Response.json({}, { status: 202, headers });
  };
  const api = { base: 'https://api.example', fetch };
  const { context, printed, hints, waits, facts } = commandIn(
    { api, acceptedRequests: () => ({}) },
    { ...defined({ columns }), readText: async () => text },
  );
  const again = () => start('r.jsonl', { batch: 'b', ...options }, context);
  return { again, printed, hints, waits, facts, paths, keys };
};

test('a batch is requested once, however often it runs, and followed by its summary and no id', async () => {
  const { again, printed, facts, paths, keys } = run(fileOf(request('1'), request('2')), { watch: true });
  expect(await again()).toBe(3);
  expect(printed).toEqual([
    '2 requested.',
    '     1  COMPLETED           none',
    '     1  COMPLETED           results not collected yet',
    '     1  FAILED              request-again',
  ]);
  expect(facts[0]).toEqual({ batch: 'b', requested: 2, requestedBefore: 0, refused: 0 });
  expect(new Set(paths)).toEqual(new Set(['/extractions', '/extractions/summary']));
  await again();
  expect(printed).toContain('0 requested, 2 before.');
  expect(keys.size).toBe(2);
});

test('a line that the API refuses is named by its number', async () => {
  const { again, printed } = run(fileOf(request('1'), '', request('refused')));
  expect(await again()).toBe(1);
  expect(printed[0]).toMatch(/^Line 3: .*422/);
  expect(printed).toContain('1 requested, 1 refused.');
});

test('progress is a bar on a terminal, and elsewhere lines', async () => {
  const terminal = run(fileOf(request('1'), request('2')), {}, 80);
  await terminal.again();
  expect([terminal.waits, terminal.hints]).toEqual([[`${'█'.repeat(20)} 2 of 2 requested`], []]);
  const piped = run(fileOf(request('1'), request('2')));
  await piped.again();
  expect(piped.hints).toEqual(['2 of 2 requested']);
});

test.each([
  [undefined, { batch: 'b' }],
  ['r.jsonl', {}],
  ['r.jsonl', { batch: 'b', reference: 'r' }],
])('the file %j with %j is a usage error', async (file, options) => {
  await expect(start(file, options, {} as never)).rejects.toMatchObject({ name: 'UsageError' });
});

test('a key of another request is answered with how to go on', async () => {
  const body = JSON.stringify({
    type: 'urn:cosecha:problem:idempotency-key-reused',
    title: 'The key was used.',
  });
  const fetch = async () => new Response(body, { status: 422 });
  const api = { base: 'https://api.example', fetch };
  const { context } = commandIn({ api, acceptedRequests: () => ({}) }, { readText: async () => '{}' });
  await expect(start(undefined, { file: '-' }, context)).rejects.toThrow('Use a new --idempotency-key');
});

test('a file with more encrypted credentials than can be started within an hour is warned of', () => {
  const encrypted = { credentials: { mode: 'encrypted', value: 'SENTINEL' }, sessionToken: 'SENTINEL' };
  const lines = parseBatchFile(fileOf(...['1', '2', '3'].map((user) => request(user, encrypted))), 'b', {});
  const rate = (perSecond?: number, waiting = 0) =>
    ({ perSecond, lanes: [{ waiting: Array.from({ length: waiting }) }] }) as unknown as StartRate;
  const [warning = ''] = warningOf(lines, rate(1, 3_599));
  expect(warning).toContain('Request 3 of the batch would be started after 61 minutes');
  expect(warning).toContain('1 of 3 come too late.');
  expect([warningOf(lines, rate(1, 3_598)), warningOf(lines, rate()), warningOf(lines, undefined)]).toEqual([
    [],
    [],
    [],
  ]);
});
