import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeSealed, encodeSealed } from '../../../../lib/extraction/sealed-request-data.ts';

test('any credentials come back as they were', () => {
  const value = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue());
  fc.assert(
    fc.property(value, fc.option(fc.string(), { nil: undefined }), (fields, sessionToken) => {
      const given = {
        credentials: { mode: 'raw' as const, value: JSON.parse(JSON.stringify(fields)) },
        ...(sessionToken === undefined ? {} : { sessionToken }),
      };
      expect(decodeSealed(encodeSealed(given))).toEqual(given);
    }),
  );
});

test('its size is counted in bytes of UTF-8', () => {
  const size = (password: string) =>
    encodeSealed({ credentials: { mode: 'raw', value: { password } } }).byteLength;
  expect(size('ñ') - size('')).toBe(2);
});
