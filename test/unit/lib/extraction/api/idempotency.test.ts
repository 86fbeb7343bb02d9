import fc from 'fast-check';
import { expect, test } from 'vitest';
import { extractionIdOf, parseIdempotencyKey } from '../../../../../lib/extraction/api/idempotency.ts';

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

test('another caller or another key gives another id', () => {
  const ids = [extractionIdOf('a', 'k'), extractionIdOf('b', 'k'), extractionIdOf('a', 'l')];
  expect(new Set(ids).size).toBe(3);
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

test('no header is no key', () => {
  expect(parseIdempotencyKey(undefined)).toEqual({ kind: 'absent' });
});

test.each(['k', 'x'.repeat(255), '"quoted"', 'a b', '~!@#$%^&*()', '550e8400-e29b-41d4-a716-446655440000'])(
  '%s is a key, used unchanged',
  (key) => {
    expect(parseIdempotencyKey(key)).toEqual({ kind: 'given', key });
  },
);

test.each(['', 'x'.repeat(256), 'ñ', 'a\tb', 'a\nb', 'a\u007f', '\u0000', '🗝'])(
  '%j is refused without an echo',
  (key) => {
    const parsed = parseIdempotencyKey(key);
    expect(parsed).toEqual({
      kind: 'invalid',
      detail: 'The Idempotency-Key must have 1 to 255 printable ASCII characters.',
    });
  },
);
