import { expect, test } from 'vitest';
import { parseRead, readingOfExtraction, readingOfTask } from '#lib/extraction/reconcile/read-task.ts';
import { parseLargeJson } from '#lib/http/parse-large-json.ts';
import type { ExtractionAnswer } from '#lib/provider/extractions/read-extraction.ts';

/** The reading of a task that ended, of which these actions were requested. */
const readOf = (taskStatus: string, results: unknown, requested: readonly string[] = []) => {
  const read = { taskStatus, results, bytes: new Uint8Array() };
  const { reading } = readingOfTask(
    read,
    requested.map((id) => ({ id })),
  );
  if (reading.kind !== 'ended') throw new Error(`${taskStatus} ends a task`);
  return reading;
};
const read = (...actions: readonly unknown[]) => readOf('PARTIAL', { actions });
const failed = (code: string) => ({ id: 'tef', status: 'FAILED', error: { code, message: 'm' } });

test.each([
  ['movement', 'TIMEOUT_ERROR'],
  ['product-balance', 'bank.down'],
  ['tef', 'E1042'],
])('the action %s keeps its id, and %s is a code, known or not', (id, errorCode) => {
  const reading = read({ ...failed(errorCode), id });
  expect(reading.actionResults).toEqual([{ id, status: 'FAILED', errorCode }]);
  expect(reading.expected).toBe(true);
});

test.each([
  ['a sentence', 'The user Ana Pérez is not known'],
  ['a national id behind a word', 'RUT-11.111.111-1'],
  ['a number of an account', 'A12345'],
  ['a line break', 'A\nB'],
  ['nothing', ''],
  ['what is too long for a code', 'X'.repeat(65)],
])('%s is recorded as unknown in place of a code, and counted', (_what, text) => {
  for (const action of [
    failed(text),
    { id: text, status: 'COMPLETED' },
    { id: 'tef', status: text, error: null },
  ]) {
    const reading = read(action, { id: 'movement', status: 'COMPLETED' });
    expect(JSON.stringify(reading.actionResults)).not.toContain(JSON.stringify(text));
    expect(JSON.stringify(reading.actionResults)).toContain('"unknown"');
    expect(reading.actionResults?.[1]).toEqual({ id: 'movement', status: 'COMPLETED' });
    expect(reading.expected).toBe(false);
  }
});

const one = (id: string) => ({ id, status: 'COMPLETED', output: [] });

test.each<readonly [complete: boolean, requested: readonly string[], results: unknown]>([
  [true, ['movement'], { actions: [one('movement')] }],
  [true, ['movement', 'tef'], { actions: [one('tef'), one('other'), one('movement')] }],
  [true, ['tef'], { actions: [failed('TIMEOUT_ERROR')] }],
  [false, ['movement'], null],
  [false, ['movement'], undefined],
  [false, ['movement'], {}],
  [false, ['movement'], { actions: null }],
  [false, ['movement'], { actions: [] }],
  [false, ['movement'], { actions: [one('tef')] }],
  [false, ['movement', 'tef'], { actions: [one('tef')] }],
  [false, ['movement', 'movement'], { actions: [one('movement'), one('tef')] }],
])('results are complete (%s) if each of %j is among them: %j', (complete, requested, results) => {
  for (const status of ['COMPLETED', 'PARTIAL', 'FAILED'])
    expect(readOf(status, results, requested)).toMatchObject({ results: complete ? 'all' : 'part' });
});

test.each(['CREDENTIALS_WRONG', 'CREDENTIALS_LOCKED'])('%s has no results, and lacks none', (status) => {
  expect(readOf(status, null, ['tef'])).toMatchObject({
    results: 'none',
    expected: true,
  });
});

const bytes = Buffer.from('as received');

/** A 200 with this body, and the body as it was received. */
const answered = (body: object): ExtractionAnswer => {
  const {
    taskStatus,
    taskStatusCode,
    results,
    data = results,
  } = parseRead(Buffer.from(JSON.stringify(body))) as never;
  return { kind: 'answered', taskStatus, taskStatusCode, data, bytes };
};
const running = (known: boolean) => ({ reading: { kind: 'running', known } });
const failedWith = (reason: string) => ({
  reading: {
    kind: 'ended',
    taskStatus: 'FAILED',
    reason,
    results: 'none',
    expected: true,
  },
});
const completed = (expected: boolean, isComplete = true) => ({
  reading: { kind: 'ended', taskStatus: 'COMPLETED', results: isComplete ? 'all' : 'part', expected },
  bytes,
});

const results = [{ a: 1 }];

test.each<readonly [object, object]>([
  [{ taskStatus: 'running' }, running(true)],
  [{ taskStatus: 'running', taskStatusCode: 500 }, running(true)],
  [{ taskStatus: 'SUCCESS' }, running(false)],
  [{ taskStatus: 'paused', taskStatusCode: 399 }, running(false)],
  [{ taskStatus: 'wrong_login', taskStatusCode: 401, results: {} }, failedWith('wrong_login')],
  [{ taskStatus: 'El rut 11.111.111-1 no existe', taskStatusCode: 400 }, failedWith('OTHER')],
  [{ taskStatus: 'success', results }, completed(true)],
  // The bank has nothing, and the document shows it like this.
  [{ taskStatus: 'success', results: [] }, completed(true)],
  // Data of an unexpected form are stored, too.
  [{ taskStatus: 'success', results: { items: [] } }, completed(false)],
  [{ taskStatus: 'success', results: { '': 1 } }, completed(false)],
  [{ taskStatus: 'success', results: 'a text' }, completed(false)],
  // The data may lag behind.
  [{ taskStatus: 'success' }, completed(false, false)],
  [{ taskStatus: 'success', results: null }, completed(false, false)],
  [{ taskStatus: 'success', results: {} }, completed(false, false)],
  // Of v2.
  [{ data: results }, completed(true)],
  [{ data: { items: [] } }, completed(false)],
  [{ data: null }, completed(false, false)],
  [{}, completed(false, false)],
])(
  'a 200 by consent is FAILED only by a new status with the code of an error, without free text: %j',
  (body, read) => {
    expect(readingOfExtraction(answered(body))).toEqual(read);
  },
);

test('an extraction by consent runs after a 202, and a body with an errorType is FAILED with nothing to store', () => {
  expect(readingOfExtraction({ kind: 'in-progress' })).toEqual(running(true));
  const failure = { kind: 'failed', errorType: 'ENTITY', errorCode: 'DOWN' } as const;
  expect(readingOfExtraction(failure)).toEqual(failedWith('ENTITY/DOWN'));
});

// `test/fuzz/reads` compares it with JSON.parse, which accepts any depth.
test('JSON of 10,000 levels is read, and of one more is refused', () => {
  const nested = (levels: number) => Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  expect(parseLargeJson(nested(10_000), {})).toEqual([]);
  expect(() => parseLargeJson(nested(10_001), {})).toThrow(RangeError);
});

test('what is kept of a large text is small', () => {
  const long = 'x'.repeat(10_000);
  const text = JSON.stringify({ kept: long, [long]: 1, dropped: { kept: 1 }, list: Array(100).fill(1) });
  const parts = { fields: { kept: {}, list: { items: {} } } };
  expect(parseLargeJson(Buffer.from(text), parts)).toEqual({
    kept: 'x'.repeat(128),
    list: Array(51).fill(0),
  });
});
