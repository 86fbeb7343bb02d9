import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defined } from '../../../../lib/defined.ts';
import { parseExtractionRequest, requestDataToSeal } from '../../../../lib/extraction/api/parse-request.ts';
import { decodeSealed, encodeSealed } from '../../../../lib/extraction/sealed-request-data.ts';
import { parseRequestBody } from '../../../../lib/http/parse-request-body.ts';

test('any credentials come back as they were', () => {
  const value = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue());
  fc.assert(
    fc.property(value, fc.option(fc.string(), { nil: undefined }), (fields, sessionToken) => {
      const credentials = { mode: 'raw', value: JSON.parse(JSON.stringify(fields)) } as const;
      const given = { credentials, ...defined({ sessionToken }) };
      expect(decodeSealed(encodeSealed(given))).toEqual(given);
    }),
  );
});

/** A request whose raw credentials are this JSON text, read as the function reads it. */
const request = (value: string, more = '') => {
  const body = `{"entity":"bank","credentials":{"mode":"raw","value":${value}},"actions":[{"id":"tef"}]${more}}`;
  const read = parseRequestBody({ body }, 64 * 1024);
  if (read.kind !== 'json') throw new Error(`The test's body is ${read.kind}.`);
  return parseExtractionRequest(read.json);
};
const pointersOf = (value: string, more?: string): readonly string[] => {
  const parsed = request(value, more);
  return parsed.kind === 'valid' ? [] : parsed.violations.map(({ pointer }) => pointer);
};
const at = (field: string): string => `/credentials/value/${field}`;

// test/fuzz/intake compares any number with its exact value. The second text is what is sealed.
test.each([
  ['-0', '0'],
  ['-7.50', '-7.5'],
  ['1E+2', '100'],
  ['123456789012345680', '123456789012345680'],
])('the number %s keeps its value, and is sealed as %s', (number, sealed) => {
  const parsed = request(`{"pin":${number}}`);
  if (parsed.kind !== 'valid') throw new Error('It should be valid.');
  expect(Buffer.from(encodeSealed(requestDataToSeal(parsed.request))).toString()).toContain(
    `{"pin":${sealed}}`,
  );
});

test('every number that would change is named, however deep, in the order of the text', () => {
  expect(pointersOf('{"a":[1,{"b/c~d":[2,1e999]}],"__proto__":{"x":1e999},"":1e999}')).toEqual([
    at('a/1/b~1c~0d/1'),
    at('__proto__/x'),
    at(''),
  ]);
});

test('such a number is one violation beside the others, and its value is not in them', () => {
  expect(pointersOf('{"pin":12345678901234567890}', ',"reference":"","x":1e999')).toEqual(
    expect.arrayContaining([at('pin'), '/reference', '/x']),
  );
  expect(JSON.stringify(request('{"pin":12345678901234567890}'))).not.toContain('1234567890');
});

test('the answer to the longest body is within Lambda’s limit', () => {
  const key = 'k'.repeat(30_000);
  const hostile = [
    `{"${key}":[${Array.from({ length: 5_000 }, () => '1e999').join()}]}`,
    `{"pin":0.${'0'.repeat(60_000)}1}`,
    `{"pin":1${'0'.repeat(60_000)}}`,
    `{"pin":${'['.repeat(2_000)}${Array.from({ length: 10_000 }, () => '[]').join()}${']'.repeat(2_000)}}`,
  ];
  for (const value of hostile) {
    const parsed = request(value);
    expect(parsed.kind).toBe('invalid');
    // Lambda and API Gateway pass on 6 MB at most.
    expect(JSON.stringify(parsed).length).toBeLessThan(6_000_000);
  }
});
