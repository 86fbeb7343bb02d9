import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  extractionIdOf,
  fingerprint,
  parseIdempotencyKey,
} from '../../../../../lib/extraction/api/idempotency.ts';
import type { CredentialsRequest } from '../../../../../lib/extraction/api/parse-request.ts';

const uuidV8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('an id has the form of a UUIDv8', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (caller, key) => {
      expect(extractionIdOf(caller, key)).toMatch(uuidV8);
    }),
  );
});

test('the same caller and key always give the same id, today and in the next release', () => {
  // printf '["arn:aws:iam::111122223333:user/u","key-1"]' | sha256sum, with version and variant set.
  expect(extractionIdOf('arn:aws:iam::111122223333:user/u', 'key-1')).toBe(
    '0f7ac918-6f2d-8721-999c-40ef0838c6d9',
  );
});

test('no caller can construct the pair of another one', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 2 }), fc.string(), fc.nat(), (caller, key, at) => {
      const cut = 1 + (at % (caller.length - 1));
      const shifted = extractionIdOf(caller.slice(0, cut), caller.slice(cut) + key);
      expect(shifted).not.toBe(extractionIdOf(caller, key));
    }),
  );
  expect(extractionIdOf('a","b', 'c')).not.toBe(extractionIdOf('a', 'b","c'));
  expect(extractionIdOf('', 'ab')).not.toBe(extractionIdOf('ab', ''));
});

test.each(['', 'x'.repeat(256), 'a\u007f'])('%j is no key, and the refusal does not repeat it', (key) => {
  expect(parseIdempotencyKey(key)).toEqual({
    kind: 'invalid',
    detail: 'The Idempotency-Key must have 1 to 255 printable ASCII characters.',
  });
});

// test/fuzz/intake/replay.ts has what makes two requests the same.
test('the fingerprint is the HMAC of the request with its keys sorted', () => {
  const text =
    '{"actions":[{"id":"tef"}],"credentials":{"mode":"raw","value":{"a":1,"b":2}},' +
    '"entity":"bank","method":"credentials"}';
  const given: CredentialsRequest = {
    method: 'credentials',
    entity: 'bank',
    credentials: { value: { b: 2, a: 1 }, mode: 'raw' },
    actions: [{ id: 'tef' }],
  };
  expect(fingerprint(given, 'secret')).toBe(createHmac('sha256', 'secret').update(text).digest('hex'));
});
