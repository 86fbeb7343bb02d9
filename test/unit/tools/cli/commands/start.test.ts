import { describe, expect, test } from 'vitest';
import { extractionRequestParser } from '#lib/extraction/api/parse-request.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { at, closedExtraction, extractionIn, id, iso } from '#support/data/extraction-fixtures.ts';
import { describeEnd, type FollowOptions, followExtraction } from '#tools/cli/commands/watch.ts';
import { buildExtractionRequest, type StartOptions } from '#tools/cli/operate/build-extraction-request.ts';

const texts: Record<string, string> = {
  '-': '{"username":"u","password":"p"}',
  'whole.json': '{"anything":1}',
  'persisted.json': '{"mode":"persisted","value":"abc"}',
  'long.json': '{"username":"u","pin":[12345678901234567890]}',
  'twice.json': '{"username":"u","password":"sentinel","password":"p"}',
  'broken.json': '{"password": "sentinel',
  id: ' 11.111.111-1\n',
};
/** As the API parses it. */
const parse = (request: unknown) => extractionRequestParser({})(JSON.parse(JSON.stringify(request)));

const build = (options: StartOptions) => buildExtractionRequest(options, async (path) => texts[path] ?? '');

const movement = {
  id: 'movement',
  params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } },
};
const consentId = '0190a0b0-0000-4000-8000-00000000000c';

const own = { entity: 'bank', reference: 'mine' };
const days = { movementFrom: '2026-01-01', movementTo: '2026-01-31' };
const raw = { mode: 'raw', value: { username: 'u', password: 'p' } };
const persisted = { mode: 'persisted', value: 'abc' };
const byConsent = { product: 'movement', variant: 'v2', reference: 'mine' };

test.each<[StartOptions, object]>([
  [
    { ...own, action: ['product-balance'], ...days },
    { ...own, credentials: raw, actions: [{ id: 'product-balance' }, movement] },
  ],
  [
    { ...own, action: ['tef'], credentials: 'persisted.json' },
    { ...own, credentials: persisted, actions: [{ id: 'tef' }] },
  ],
  [
    { ...byConsent, consent: consentId, target: 'id' },
    { ...byConsent, method: 'consent', consentId, target: '11.111.111-1' },
  ],
])('the request of %j is accepted by the API', async (options, expected) => {
  const request = await build(options);
  expect(JSON.parse(JSON.stringify(request))).toEqual(expected);
  expect(parse(request).kind).toBe('valid');
});

test('the request is the file of --file, unchanged', async () => {
  expect(await build({ file: 'whole.json' })).toEqual({ anything: 1 });
});

describe('options that make no request', () => {
  const failureOf = (options: StartOptions) => build(options).catch((error: unknown) => error);

  test.each<[StartOptions, RegExp]>([
    [{}, /Name what to extract/],
    [{ file: 'whole.json', entity: 'bank' }, /--entity cannot be used with it/],
    [{ entity: 'bank', consent: 'c', product: 'movement' }, /Use one of them/],
    [{ consent: 'c' }, /needs --consent and --product/],
    [{ entity: 'bank' }, /Name an action/],
    [{ entity: 'bank', movementFrom: '2026-01-01' }, /together/],
  ])('%j are a usage error', async (options, sentence) => {
    const message = expect.stringMatching(sentence);
    expect(await failureOf(options)).toMatchObject({ name: 'UsageError', message });
  });

  const by = (credentials: string): StartOptions => ({ entity: 'bank', action: ['tef'], credentials });
  const changes = 'the number at /pin/0 would change as a 64-bit float. Write it as a string.';

  test.each<[StartOptions, string]>([
    [by('long.json'), `The credentials: ${changes}`],
    [{ file: 'long.json' }, `The request: ${changes}`],
    // The API would get only one of the two.
    [by('twice.json'), 'The credentials: /password occurs twice.'],
    [by('broken.json'), 'The credentials must be JSON.'],
  ])('the file of %j is refused, and not quoted: %s', async (options, message) => {
    const failure = await failureOf(options);
    expect(failure).toMatchObject({ name: 'CliError', message });
    expect(failure).not.toHaveProperty('cause');
  });
});

const paused = { kind: 'paused', calls: 'starts', since: iso(1), reason: 'maintenance' } as const;

const follow = async (options: FollowOptions, ...records: readonly (Extraction | undefined)[]) => {
  const queue = [...records];
  const lines: string[] = [];
  const holds: string[] = [];
  const facts: unknown[] = [];
  const waits: string[] = [];
  let seconds = 0;
  const result = await followExtraction(id, options, {
    get: async () => queue.shift(),
    now: () => at(seconds),
    sleep: async (milliseconds) => {
      seconds += milliseconds / 1_000;
    },
    onChange: (line, fact) => {
      lines.push(line.trim());
      facts.push(fact);
    },
    onWait: (line) => waits.push(line),
    startsAt: async () => iso(30),
    readHolds: async () => (seconds > 0 && seconds < 5 ? [paused] : []),
    onHold: (line) => holds.push(line.trim()),
  });
  return { result, lines, facts, seconds, holds, waits };
};

test('each change is a line, until the extraction is closed', async () => {
  const running = extractionIn('RUNNING');
  const closed = closedExtraction({ status: 'COMPLETED', settledBy: 'webhook', collectedAt: iso(3) });
  const records = [extractionIn('REQUESTED'), running, running, extractionIn('COMPLETED'), closed] as const;
  const { result, lines, facts, waits } = await follow({}, ...records);
  expect(result).toEqual({ kind: 'ended', status: 'COMPLETED' });
  expect(waits.slice(0, 2)).toEqual(['REQUESTED for 0 s, in line, starts in 30 s', 'RUNNING for 0 s']);
  expect(lines).toEqual([
    '0 s  REQUESTED',
    '1 s  RUNNING',
    '3 s  COMPLETED (settled by webhook)',
    '4 s  COMPLETED (settled by webhook), collected, closed',
  ]);
  expect(facts[1]).toMatchObject({ extractionId: id, status: 'RUNNING', taskId: 'task-1', closed: false });
});

test('while its start is held, a line says so once, with the reason', async () => {
  const requested = Array.from({ length: 4 }, () => extractionIn('REQUESTED'));
  const { holds } = await follow({}, ...requested, extractionIn('RUNNING'), extractionIn('REJECTED'));
  expect(holds).toEqual(['1 s  starts have been paused for 0 s: maintenance']);
  const running = [1, 2].map(() => extractionIn('RUNNING'));
  expect((await follow({}, ...running, extractionIn('REJECTED'))).holds).toEqual([]);
});

test('an extraction that was never started ends, and one that does not exist is absent', async () => {
  const { lines } = await follow({}, extractionIn('REJECTED'));
  expect(lines).toEqual(['0 s  REJECTED (http-400, settled by start), closed']);
  expect((await follow({}, undefined)).result).toEqual({ kind: 'absent' });
});

test('until settled, it is followed to its outcome, and not to its close', async () => {
  const { result } = await follow({ until: 'settled' }, extractionIn('RUNNING'), extractionIn('COMPLETED'));
  expect(result).toEqual({ kind: 'ended', status: 'COMPLETED' });
});

test('it is read a last time when the timeout ends', async () => {
  const running = Array.from({ length: 9 }, () => extractionIn('RUNNING'));
  const { result, seconds } = await follow({ timeout: 2.5 }, ...running);
  expect({ result, seconds }).toEqual({ result: { kind: 'timed-out', status: 'RUNNING' }, seconds: 2.5 });
  const ended = await follow({ timeout: 1 }, extractionIn('RUNNING'), extractionIn('REJECTED'));
  expect(ended.result).toEqual({ kind: 'ended', status: 'REJECTED' });
});

test('an interruption ends it at the next pause', async () => {
  const { result } = await follow({ interrupted: AbortSignal.abort() }, extractionIn('RUNNING'));
  expect(result).toEqual({ kind: 'interrupted', status: 'RUNNING' });
});

test.each([
  ['ended', 'COMPLETED', 0, undefined],
  ['ended', 'PARTIAL', 3, undefined],
  ['timed-out', 'RUNNING', 4, 'Still RUNNING after 1 min 30 s.'],
  ['interrupted', 'RUNNING', 130, 'Stopped watching.'],
] as const)('%s as %s exits %d', (kind, status, code, hint) => {
  const end = describeEnd({ kind, status }, { timeout: 90 });
  expect([end.code, end.hint]).toEqual([code, hint]);
});
