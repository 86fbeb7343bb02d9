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
const without = ({ reference: _reference, ...rest }: CredentialsRequest): CredentialsRequest => rest;

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

test('the order of keys does not matter', () => {
  const other: CredentialsRequest = {
    method: 'credentials',
    reference: 'mine',
    actions: [
      { id: 'product-balance' },
      { params: { dateRange: { endDate: '2026-02-28', startDate: '2026-01-01' } }, id: 'movement' },
    ],
    credentials: { value: { password: 'p', username: 'u' }, mode: 'raw' },
    entity: 'bank',
  };
  expect(fingerprint(other, 'secret')).toBe(of({}));
});

test('another secret gives another fingerprint', () => {
  expect(fingerprint(request, 'another')).not.toBe(of({}));
});

describe('it distinguishes', () => {
  test.each<readonly [string, string]>([
    ['another entity', of({ entity: 'other' })],
    ['another password', of({ credentials: { mode: 'raw', value: { username: 'u', password: 'q' } } })],
    ['one more field', of({ credentials: { mode: 'raw', value: { username: 'u', password: 'p', x: 1 } } })],
    ['another mode', of({ credentials: { mode: 'persisted', value: 'p' } })],
    ['another order of actions', of({ actions: [...request.actions].reverse() })],
    ['one action less', of({ actions: [{ id: 'product-balance' }] })],
    ['another date', of({ actions: [{ id: 'product-balance' }, movement('2026-01-02')] })],
    ['another reference', of({ reference: 'yours' })],
    ['no reference', fingerprint(without(request), 'secret')],
  ])('%s', (_what, other) => {
    expect(other).not.toBe(of({}));
  });

  test('one persisted ciphertext from another', () => {
    expect(of({ credentials: { mode: 'persisted', value: 'a' } })).not.toBe(
      of({ credentials: { mode: 'persisted', value: 'b' } }),
    );
  });
});

test('encrypted credentials and session tokens are left out, because they differ in every retry', () => {
  const first = of({ credentials: { mode: 'encrypted', value: 'a-b' }, sessionToken: 's1' });
  expect(of({ credentials: { mode: 'encrypted', value: 'c-d' }, sessionToken: 's2' })).toBe(first);
  expect(of({ credentials: { mode: 'encrypted', value: 'c-d' }, sessionToken: 's2', entity: 'x' })).not.toBe(
    first,
  );
});

test('it contains nothing of the credentials', () => {
  expect(of({})).toMatch(/^[0-9a-f]{64}$/);
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

  test('the target is in it, and cannot be read from it', () => {
    expect(byConsent({})).toMatch(/^[0-9a-f]{64}$/);
    expect(fingerprint(asked, 'another')).not.toBe(byConsent({}));
  });
});
