import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { extractionIdOf, fingerprint, parseIdempotencyKey } from '#lib/extraction/api/idempotency.ts';
import type { CredentialsRequest } from '#lib/extraction/api/parse-request.ts';

const uuidV8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('an id has the form of a UUIDv8', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (caller, key) => {
      expect(extractionIdOf(caller, key)).toMatch(uuidV8);
    }),
  );
});

// printf '["arn:aws:iam::111122223333:user/u","key-1"]' | sha256sum, with version and variant set. All other bits stay.
test.each([
  ['key-1', '0f7ac918-6f2d-8721-999c-40ef0838c6d9'],
  ['key-3', '61ef0ab1-06cd-8585-b4fa-493d1d99e5be'],
])('the same caller and %s always give the same id, today and in the next release', (key, id) => {
  expect(extractionIdOf('arn:aws:iam::111122223333:user/u', key)).toBe(id);
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

// test/fuzz/api/repeated-requests.ts has what makes two requests the same.
describe('the fingerprint', () => {
  const given: CredentialsRequest = {
    method: 'credentials',
    entity: 'bank',
    credentials: { value: { username: 'ana', password: '0007', b: 2 }, mode: 'raw' },
    actions: [{ id: 'tef' }],
  };
  const withValue = (value: CredentialsRequest['credentials']['value'], mode = 'raw'): CredentialsRequest =>
    ({ ...given, credentials: { mode, value } }) as CredentialsRequest;
  const mac = (text: string, digits: number) =>
    createHmac('sha256', 'key').update(text).digest('hex').slice(0, digits);

  const of = { caller: 'caller', extractionId: 'id' };
  const partsOf = (request: CredentialsRequest, whose = of) => fingerprint(request, 'key', whose).split('-');

  test('has a MAC of what is shown, of the user, of persisted credentials, and one byte of the password', () => {
    const shown = mac('request:["id",{"actions":[{"id":"tef"}],"entity":"bank","method":"credentials"}]', 32);
    const user = mac('raw:["id",{"b":2,"username":"ana"}]', 16);
    const password = mac('password:["caller",{"username":"ana"},"0007"]', 2);
    expect(partsOf(given)).toEqual([shown, user, '', password]);
    const persisted = mac('persisted:["id","ciphertext"]', 16);
    expect(partsOf(withValue('ciphertext', 'persisted'))).toEqual([shown, '', persisted, '']);
    expect(partsOf(withValue('ciphertext', 'encrypted'))).toEqual([shown, '', '', '']);
    expect(partsOf(withValue({ username: 'ana' })).at(-1)).toBe('');
    const consent = {
      method: 'consent',
      product: 'movement',
      consentId: 'c-1',
      target: '11.111.111-1',
    } as const;
    const byConsent = fingerprint({ ...consent, variant: 'v1' }, 'key', of);
    expect(byConsent).toBe('39fc5fb0c6ab5a3a6fb7c868218c970b---');
  });

  test('shows nothing by which two records can be compared, but the byte of one user and caller', () => {
    const again = partsOf(given, { ...of, extractionId: 'another' });
    expect(again.map((part, index) => part === partsOf(given)[index])).toEqual([false, false, true, true]);
    const persisted = withValue('ciphertext', 'persisted');
    expect(partsOf(persisted, { ...of, extractionId: 'another' })[2]).not.toBe(partsOf(persisted)[2]);
    const passwords = Array.from({ length: 20 }, (_, index) => String(index));
    const bytesOf = (username: string, caller: string) =>
      passwords.map((password) => partsOf(withValue({ username, password }), { ...of, caller })[3]);
    expect(bytesOf('ana', 'other')).not.toEqual(bytesOf('ana', 'caller'));
    expect(bytesOf('eva', 'caller')).not.toEqual(bytesOf('ana', 'caller'));
  });

  test('leaves some 39 of 10,000 PINs, the same ones in each record of a user', () => {
    const pins = Array.from({ length: 10_000 }, (_, pin) => String(pin).padStart(4, '0'));
    const fitting = (known: CredentialsRequest, extractionId: string) => {
      const byte = partsOf(known, { ...of, extractionId })[3];
      const { value } = known.credentials;
      return pins.filter((password) => {
        const guess = withValue({ ...(value as object), password });
        return partsOf(guess, { ...of, extractionId })[3] === byte;
      });
    };
    const left = fitting(withValue({ username: '9.007.928-K', password: '0007', code: '1' }), 'first');
    expect(left.length).toBeGreaterThan(20);
    expect(left.length).toBeLessThan(60);
    const again = withValue({ username: '9007928k', password: '0007', code: '2' });
    expect(fitting({ ...again, entity: 'other-bank', reference: 'another day' }, 'second')).toEqual(left);
  });
});
