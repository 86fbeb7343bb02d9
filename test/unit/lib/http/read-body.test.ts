import { expect, test } from 'vitest';
import { readJsonBody } from '../../../../lib/http/read-body.ts';

const base64 = (bytes: string | Uint8Array) => ({
  body: Buffer.from(bytes).toString('base64'),
  isBase64Encoded: true,
});

test('JSON is read, as text or as base64', () => {
  expect(readJsonBody({ body: '{"a":"ñ"}' }, 100)).toEqual({ kind: 'json', json: { a: 'ñ' } });
  expect(readJsonBody(base64('{"a":"ñ"}'), 100)).toEqual({ kind: 'json', json: { a: 'ñ' } });
  expect(readJsonBody({ body: 'null' }, 100)).toEqual({ kind: 'json', json: null });
});

test.each([
  ['no body', {}],
  ['an empty body', { body: '' }],
  ['a body that is cut off', { body: '{"a":' }],
  ['two bodies in one', { body: '{}{}' }],
  ['bytes that are no UTF-8', base64(Buffer.from([0x22, 0xff, 0x22]))],
])('%s is not JSON', (_what, event) => {
  expect(readJsonBody(event, 100)).toEqual({ kind: 'not-json' });
});

test('the limit is in bytes, after base64', () => {
  const json = JSON.stringify('x'.repeat(98));
  expect(readJsonBody({ body: json }, 100).kind).toBe('json');
  expect(readJsonBody(base64(json), 100).kind).toBe('json');
  expect(readJsonBody({ body: json }, 99)).toEqual({ kind: 'too-large' });
  expect(readJsonBody({ body: JSON.stringify('ñ'.repeat(50)) }, 100)).toEqual({ kind: 'too-large' });
});
