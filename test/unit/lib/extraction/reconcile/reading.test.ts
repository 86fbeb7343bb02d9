import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  parseRead,
  readingOfExtraction,
  readingOfTask,
} from '../../../../../lib/extraction/reconcile/read-task.ts';
import { parseLargeJson } from '../../../../../lib/http/parse-large-json.ts';
import type { ExtractionAnswer } from '../../../../../lib/provider/extractions/read-extraction.ts';

const read = (...actions: readonly unknown[]) => {
  const { reading } = readingOfTask({ taskStatus: 'PARTIAL', results: { actions }, bytes: new Uint8Array() });
  if (reading.kind !== 'ended') throw new Error('PARTIAL ends a task');
  return reading;
};
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

test('only short codes are recorded of an action, for any text of the provider', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (id, status, code) => {
      const [result] = read({ id, status, error: { code } }).actionResults ?? [];
      for (const word of Object.values(result ?? {})) expect(word).toMatch(/^[A-Za-z][\w.-]{0,63}$/);
      expect(Object.keys(result ?? {})).toEqual(['id', 'status', 'errorCode']);
    }),
  );
});

const bytes = Buffer.from('as received');

/** A 200 with this body, and the body as it was received. */
const answered = (body: object): ExtractionAnswer => {
  const { taskStatus, taskStatusCode, data } = parseRead(Buffer.from(JSON.stringify(body))) as never;
  return { kind: 'answered', taskStatus, taskStatusCode, data, bytes };
};
const running = (known: boolean) => ({ reading: { kind: 'running', known } });
const failedWith = (reason: string) => ({
  reading: { kind: 'ended', taskStatus: 'FAILED', reason, hasResults: false, expected: true },
});
const completed = (expected: boolean) => ({
  reading: { kind: 'ended', taskStatus: 'COMPLETED', hasResults: true, expected },
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
  [{ taskStatus: 'success', data: results }, completed(true)],
  // Data of an unexpected form are stored, too.
  [{ taskStatus: 'success' }, completed(false)],
  [{ taskStatus: 'success', data: { items: [] } }, completed(false)],
  // Of v2.
  [{ data: results }, completed(true)],
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

test('a number is kept where it is asked for, and is 0 elsewhere', () => {
  const parts = { fields: { code: { isNumber: true }, other: {} } } as const;
  const parsed = (text: string) => parseLargeJson(Buffer.from(text), parts);
  expect(parsed('{"code":500,"other":500}')).toEqual({ code: 500, other: 0 });
  expect(parsed('{"code":-4.5e2}')).toEqual({ code: -450 });
  expect(parsed('{"in":{"code":1},"code":"400"}')).toEqual({ code: '400' });
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
