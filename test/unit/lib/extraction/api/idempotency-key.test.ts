import { expect, test } from 'vitest';
import { parseIdempotencyKey } from '../../../../../lib/extraction/api/idempotency-key.ts';

test('no header is no key', () => {
  expect(parseIdempotencyKey(undefined)).toEqual({ kind: 'absent' });
});

test.each(['k', 'x'.repeat(255), '"quoted"', 'a b', '~!@#$%^&*()', '550e8400-e29b-41d4-a716-446655440000'])(
  '%s is a key, taken as it is',
  (key) => {
    expect(parseIdempotencyKey(key)).toEqual({ kind: 'given', key });
  },
);

test.each(['', 'x'.repeat(256), 'ñ', 'a\tb', 'a\nb', 'a\u007f', '\u0000', '🗝'])(
  '%j is none, and is not echoed',
  (key) => {
    const parsed = parseIdempotencyKey(key);
    expect(parsed).toEqual({
      kind: 'invalid',
      detail: 'The Idempotency-Key must have 1 to 255 printable ASCII characters.',
    });
  },
);
