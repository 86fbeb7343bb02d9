import { describe, expect, test } from 'vitest';
import { extractionRequestParser, requestDataToSeal } from '#lib/extraction/api/parse-request.ts';
import { encodeSealed } from '#lib/extraction/sealed-request-data.ts';
import type { BodyViolation } from '#lib/http/body-fields.ts';
import { parseRequestBody } from '#lib/http/parse-request-body.ts';
import { problem } from '#lib/http/problem.ts';

const dateRange = { startDate: '2026-01-01', endDate: '2026-01-31' };
const valid = {
  entity: 'bank',
  credentials: { mode: 'raw', value: { username: 'u', password: 'p', businessId: '7' } },
  actions: [{ id: 'product-balance' }, { id: 'movement', params: { dateRange } }, { id: 'tef' }],
  reference: 'mine',
};
const encrypted = { ...valid, credentials: { mode: 'encrypted', value: 'a-b' }, sessionToken: 'st' };

const parseExtractionRequest = extractionRequestParser({});
const violationsOf = (body: unknown): readonly BodyViolation[] => {
  const parsed = parseExtractionRequest(body);
  return parsed.kind === 'invalid' ? parsed.violations : [];
};
const pointersOf = (body: unknown): readonly string[] => violationsOf(body).map(({ pointer }) => pointer);
const movementIn = (startDate: string, endDate: string) => ({
  ...valid,
  actions: [{ id: 'movement', params: { dateRange: { startDate, endDate } } }],
});
const rawIn = (value: unknown) => ({ ...valid, credentials: { mode: 'raw', value } });

const byConsent = {
  method: 'consent',
  product: 'movement',
  consentId: '0190a0b0-0000-4000-8000-00000000000c',
  target: '11.111.111-1',
  variant: 'v2',
  reference: 'mine',
};

/** An object in an object, and so on: so many levels. */
const nested = (levels: number): unknown => (levels === 1 ? { last: 1 } : { inner: nested(levels - 1) });

test('raw credentials are nested at most 8 levels deep', () => {
  expect(violationsOf(rawIn(nested(8)))).toEqual([]);
  const tooDeep = {
    pointer: '/credentials/value',
    detail: 'must not be nested more than 8 levels deep',
  };
  expect(violationsOf(rawIn(nested(9)))).toEqual([tooDeep]);
  expect(violationsOf(rawIn({ list: [[[[[[[['eight below']]]]]]]] }))).toEqual([tooDeep]);
  const text = `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`;
  expect(violationsOf(rawIn(JSON.parse(text)))).toEqual([tooDeep]);
});

test('a request by consent has the variant v1 by default', () => {
  const { variant: _variant, ...body } = byConsent;
  expect(parseExtractionRequest(body)).toEqual({ kind: 'valid', request: { ...body, variant: 'v1' } });
});

test('an entity that is not in the setting is refused with the nearest, and without the setting any is accepted', () => {
  const parse = extractionRequestParser({ entities: ['banco-estado', 'bank', 'demo-bank'] });
  expect(parse(valid).kind).toBe('valid');
  expect(parse(byConsent).kind).toBe('valid');
  expect(parse({ ...valid, entity: 'banco-estdao' })).toEqual({
    kind: 'invalid',
    violations: [
      {
        pointer: '/entity',
        detail: 'must be an entity of the setting entities; the nearest is banco-estado',
      },
    ],
  });
  expect(pointersOf({ ...valid, entity: 'banco-estdao' })).toEqual([]);
});

test('dates are not compared with today, and two movements with other dates are two actions', () => {
  const later = { startDate: '2099-01-01', endDate: '2099-12-31' };
  const actions = [dateRange, later].map((range) => ({ id: 'movement', params: { dateRange: range } }));
  expect(pointersOf({ ...valid, actions })).toEqual([]);
  expect(pointersOf({ ...valid, actions: [...actions, ...actions] })).toEqual(['/actions/2', '/actions/3']);
});

test('a list of products is refused with the hint to send one request for each', () => {
  expect(violationsOf({ ...byConsent, product: ['movement', 'tef'] })).toEqual([
    { pointer: '/product', detail: 'must be one product: send one request for each of several' },
  ]);
});

test('an unknown product is refused with the products that there are', () => {
  const [violation] = violationsOf({ ...byConsent, product: 'horoscope' });
  expect(violation?.detail).toMatch(/^must be one of tef, bill, .*, balances$/);
});

test('an action that is no object is refused with what it must be', () => {
  expect(violationsOf({ ...valid, actions: ['tef'] })).toEqual([
    { pointer: '/actions/0', detail: 'must be an object with an id' },
  ]);
});

// test/fuzz/intake compares what is accepted with docs/openapi.yaml, and proves that each pointer leads to a member.
describe('a violation has the pointer of what is wrong, and no other', () => {
  test.each<readonly [string, unknown, string]>([
    ['a body that is a list', [], ''],
    ['a method that there is not', { ...byConsent, method: 'magic' }, '/method'],
    ['an entity of 101 characters', { ...valid, entity: 'x'.repeat(101) }, '/entity'],
    ['raw credentials without a field', rawIn({}), '/credentials/value'],
    ['no session token for encrypted ones', { ...encrypted, sessionToken: undefined }, '/sessionToken'],
    ['a session token with a line break in it', { ...encrypted, sessionToken: 'a\nb' }, '/sessionToken'],
    ['a session token with raw credentials', { ...valid, sessionToken: 'st' }, '/sessionToken'],
    ['a 30 February', movementIn('2026-02-30', '2026-03-31'), '/actions/0/params/dateRange/startDate'],
    ['an end too early', movementIn('2026-02-01', '2026-01-31'), '/actions/0/params/dateRange/endDate'],
    ['a reference of 257 characters', { ...valid, reference: 'x'.repeat(257) }, '/reference'],
    ['an empty batch', { ...valid, batch: '' }, '/batch'],
    ['a batch of 257 characters', { ...valid, batch: 'x'.repeat(257) }, '/batch'],
    ['a batch with a line break', { ...byConsent, batch: 'a\nb' }, '/batch'],
    ['a batch that is no text', { ...valid, batch: 7 }, '/batch'],
    ['an unknown priority', { ...byConsent, priority: 'high' }, '/priority'],
    ['an unknown field whose name needs escaping', { ...valid, 'a/b~c': 1 }, '/a~1b~0c'],
  ])('%s', (_what, body, pointer) => {
    expect(pointersOf(body)).toEqual([pointer]);
  });
});

// JSON.stringify recurses; JSON.parse does not. 30,000 brackets fit in 64 KiB.
test('credentials nested deeper than the stack are refused, not an exception', () => {
  const nested: unknown = JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`);
  expect(pointersOf(rawIn({ username: 'u', nested }))).toEqual(['/credentials/value']);
});

/** The body whose raw credentials are this JSON text, read as the function reads it. */
const bodyWith = (value: string, more = '') => {
  const body = `{"entity":"bank","credentials":{"mode":"raw","value":${value}},"actions":[{"id":"tef"}]${more}}`;
  const read = parseRequestBody({ body }, 64 * 1024);
  if (read.kind !== 'json') throw new Error(`The test's body is ${read.kind}.`);
  return read.json;
};

// test/fuzz/intake compares any number with its exact value. The second text is what is sealed.
test.each([
  ['-0', '0'],
  ['-7.50', '-7.5'],
  ['1E+2', '100'],
  ['123456789012345680', '123456789012345680'],
])('the number %s keeps its value, and is sealed as %s', (number, sealed) => {
  const parsed = parseExtractionRequest(bodyWith(`{"pin":${number}}`));
  if (parsed.kind !== 'valid') throw new Error('It should be valid.');
  expect(Buffer.from(encodeSealed(requestDataToSeal(parsed.request))).toString()).toContain(
    `{"pin":${sealed}}`,
  );
});

test('such a number is one violation beside the others, and its value is not in them', () => {
  const violations = violationsOf(bodyWith('{"pin":12345678901234567890}', ',"reference":"","x":1e999'));
  const pointers = ['/credentials/value/pin', '/reference', '/x'];
  expect(violations.map(({ pointer }) => pointer)).toEqual(expect.arrayContaining(pointers));
  expect(JSON.stringify(violations)).not.toContain('1234567890');
});

test('a text that was not UTF-8 before is named in credentials of every mode, and its value is not repeated', () => {
  const violations = violationsOf(bodyWith('{"password":"secre\ufffdt","a":[{"b":"\ufffd"}],"c\ufffd":1}'));
  expect(violations.map(({ pointer }) => pointer)).toEqual(
    ['password', 'a/0/b', 'c\ufffd'].map((field) => `/credentials/value/${field}`),
  );
  expect(JSON.stringify(violations)).not.toContain('secre');
  const persisted = { mode: 'persisted', value: 'abc\ufffd' };
  expect(pointersOf({ entity: 'bank', credentials: persisted, actions: [{ id: 'tef' }] })).toEqual([
    '/credentials/value',
  ]);
});

/** The bytes of the answer to a body that is not valid. */
const answerTo = (body: unknown) =>
  Buffer.from(problem('invalid-request', { errors: violationsOf(body) }).body ?? '');

test('the answer is never larger than the longest body', () => {
  const key = 'k'.repeat(30_000);
  const hostile = [
    `{"${key}":[${Array.from({ length: 5_000 }, () => '1e999').join()}]}`,
    `{"pin":0.${'0'.repeat(60_000)}1}`,
    `{"pin":1${'0'.repeat(60_000)}}`,
    `{"pin":${'['.repeat(2_000)}${Array.from({ length: 10_000 }, () => '[]').join()}${']'.repeat(2_000)}}`,
  ];
  for (const value of hostile) {
    expect(answerTo(bodyWith(value)).length).toBeLessThan(64 * 1024);
  }
  const manyFields = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`f${index}`, 0]));
  expect(answerTo(manyFields).length).toBeLessThan(64 * 1024);
  expect(answerTo({ ...valid, actions: Array(30_000).fill(0) }).length).toBeLessThan(64 * 1024);
});

test('a pointer that is too long to repeat is that of the value around it', () => {
  const body = bodyWith(`{"safe":{"${'k'.repeat(500)}":1e999,"${'k'.repeat(400)}":1e999}}`);
  expect(pointersOf(body)).toEqual(['/credentials/value/safe', `/credentials/value/safe/${'k'.repeat(400)}`]);
});
