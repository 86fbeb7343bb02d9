import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { signingKeyOf, verifySignature } from '#lib/webhook/verify-signature.ts';
import { signatureHeader } from '../../../support/data/signature-header.ts';

// test/fuzz/webhook compares every form of a header, and every place of a key, with an oracle.

// https://www.rfc-editor.org/rfc/rfc4231#section-4.5: a key that is the UTF-8 of a text, and data that is no text's.
test('case 4 of RFC 4231 verifies', () => {
  const vectorKey = String.fromCharCode(...Array.from({ length: 25 }, (_, index) => index + 1));
  const mac = '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b';
  expect(verifySignature(`sha256=${mac}`, Buffer.alloc(50, 0xcd), [signingKeyOf(vectorKey)])).toEqual({
    verified: true,
    key: vectorKey,
  });
});

describe('constant-time', () => {
  // Records what is compared and by what, and whether the answer is the verdict. Test files share their modules, so the
  // built-in is replaced in place, and put back.
  const compare = vi.spyOn(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  afterAll(() => {
    compare.mockRestore();
    syncBuiltinESMExports();
  });

  /** Both sides of each comparison as hex, as they were at its time: the buffers are used again. */
  let compared: (readonly [expected: string, claimed: string])[] = [];
  const hex = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString('hex');
  const answering = (answer?: boolean): void => {
    compared = [];
    compare.mockImplementation((one, other) => {
      compared.push([hex(one), hex(other)]);
      return answer ?? hex(one) === hex(other);
    });
  };
  beforeEach(() => answering());

  const body = Buffer.from('{"taskId":"task-1","taskStatus":"COMPLETED"}');
  const macOf = (key: string): string => signatureHeader(body, key).slice('sha256='.length);
  const active = ['current', 'previous', 'oldest'];
  const verify = (mac: string) =>
    verifySignature(
      `sha256=${mac}`,
      body,
      active.map((text) => signingKeyOf(text)),
    );

  test.each([
    ['the current key', macOf('current')],
    ['the oldest key', macOf('oldest')],
    ['no active key', macOf('withdrawn')],
  ])('a signature of %s is compared in constant time with that of every active key', (_whose, mac) => {
    verify(mac);
    expect(compared.map((pair) => pair.toSorted())).toEqual(
      active.map((key) => [macOf(key), mac].toSorted()),
    );
  });

  test('nothing but these comparisons decides', () => {
    answering(false);
    expect(verify(macOf('current'))).toEqual({ verified: false, reason: 'mismatch' });
    answering(true);
    expect(verify(macOf('withdrawn'))).toEqual({ verified: true, key: 'current' });
  });
});
