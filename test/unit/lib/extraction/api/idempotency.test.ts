import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  extractionIdOf,
  fingerprint,
  parseIdempotencyKey,
} from '../../../../../lib/extraction/api/idempotency.ts';
import type { ConsentRequest, CredentialsRequest } from '../../../../../lib/extraction/api/parse-request.ts';

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

const movement = (startDate: string) => ({
  id: 'movement',
  params: { dateRange: { startDate, endDate: '2026-02-28' } },
});

const request: CredentialsRequest = {
  method: 'credentials',
  entity: 'bank',
  credentials: { mode: 'raw', value: { username: 'u', password: 'p' } },
  actions: [{ id: 'product-balance' }, movement('2026-01-01')],
  reference: 'mine',
};

const of = (changes: Partial<CredentialsRequest>) => fingerprint({ ...request, ...changes }, 'secret');

test('it is the HMAC of the request with its keys sorted', () => {
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

test('encrypted credentials and session tokens are left out, because they differ in every retry', () => {
  const first = of({ credentials: { mode: 'encrypted', value: 'a-b' }, sessionToken: 's1' });
  expect(of({ credentials: { mode: 'encrypted', value: 'c-d' }, sessionToken: 's2' })).toBe(first);
  expect(of({ credentials: { mode: 'encrypted', value: 'c-d' }, sessionToken: 's2', entity: 'x' })).not.toBe(
    first,
  );
});

describe('by consent', () => {
  const asked: ConsentRequest = {
    method: 'consent',
    product: 'movement',
    consentId: '0190a0b0-0000-4000-8000-00000000000c',
    variant: 'v1',
    target: '11111111-1',
    reference: 'mine',
  };
  const byConsent = (changes: Partial<ConsentRequest>) => fingerprint({ ...asked, ...changes }, 'secret');

  test.each<readonly [string, Partial<ConsentRequest>]>([
    ['another product', { product: 'tef' }],
    ['another consent', { consentId: '0190a0b0-0000-4000-8000-00000000000d' }],
    ['the other variant', { variant: 'v2' }],
    ['another target', { target: '22222222-2' }],
    ['another reference', { reference: 'yours' }],
  ])('it distinguishes %s', (_what, changes) => {
    expect(byConsent(changes)).not.toBe(byConsent({}));
  });
});
