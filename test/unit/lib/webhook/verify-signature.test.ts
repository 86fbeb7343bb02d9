import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type SigningKey, signingKeyOf } from '../../../../lib/webhook/signing-keys.ts';
import { type Verification, verifySignature } from '../../../../lib/webhook/verify-signature.ts';
import { signed } from '../../../support/sign.ts';

const verify = (header: string | undefined, body: Uint8Array, keys: readonly string[]): Verification =>
  verifySignature(header, body, keys.map(signingKeyOf));

const body = Buffer.from('{"taskId":"task-1","taskStatus":"COMPLETED"}');
const key = 'signing-key-ñ';
const right = signed(body, key);

// https://www.rfc-editor.org/rfc/rfc4231#section-4, cases 1 and 2: the ones whose key is the UTF-8 of a text.
// (Case 3's and later ones are bytes of 0xaa, which no text has as its UTF-8.)
describe('the vectors of RFC 4231', () => {
  test.each([
    [
      'case 1',
      '\u000b'.repeat(20),
      'Hi There',
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    ],
    [
      'case 2',
      'Jefe',
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    // Case 4: the key 0x01 to 0x19, the data fifty bytes of 0xcd.
    [
      'case 4',
      String.fromCharCode(...Array.from({ length: 25 }, (_, index) => index + 1)),
      Buffer.alloc(50, 0xcd),
      '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
    ],
  ])('%s verifies', (_case, vectorKey, data, mac) => {
    expect(verify(`sha256=${mac}`, Buffer.from(data), [vectorKey])).toEqual({
      verified: true,
      key: vectorKey,
    });
  });
});

test('the case of the hex is free', () => {
  const upper = `sha256=${right.slice('sha256='.length).toUpperCase()}`;
  expect(verify(upper, body, [key])).toEqual({ verified: true, key });
});

test('a missing header is told from a malformed one', () => {
  expect(verify(undefined, body, [key])).toEqual({ verified: false, reason: 'missing' });
});

test.each([
  ['is empty', ''],
  ['has no scheme', right.slice('sha256='.length)],
  ['has another scheme', right.replace('sha256', 'sha512')],
  ['has the scheme in capitals', right.replace('sha256', 'SHA256')],
  ['has nothing after the scheme', 'sha256='],
  ['is one digit short', right.slice(0, -1)],
  ['is half as long', right.slice(0, 7 + 32)],
  ['is one digit too long', `${right}0`],
  ['has a digit that is none', right.replace(/.$/, 'g')],
  ['has a digit that is not ASCII', right.replace(/.$/, 'é')],
  ['has full-width digits', `sha256=${'０'.repeat(64)}`],
  ['starts with a space', ` ${right}`],
  ['ends with a space', `${right} `],
  ['ends with a line break', `${right}\n`],
  ['is two in one', `${right},${right}`],
  ['is base64', `sha256=${Buffer.alloc(48, 1).toString('base64')}`],
])('a header that %s is malformed, and never an exception', (_what, header) => {
  expect(verify(header, body, [key])).toEqual({ verified: false, reason: 'malformed' });
});

test('with several active keys the one that matches is told, wherever it stands', () => {
  for (const keys of [
    [key, 'old', 'older'],
    ['new', key, 'older'],
    ['new', 'old', key],
  ]) {
    expect(verify(right, body, keys)).toEqual({ verified: true, key });
  }
});

// Node's decoder of hex looks at the low byte of a character only: U+0130 is a 0 to it, U+0141 an A.
test('characters whose low byte is a hex digit are malformed', () => {
  const disguised = [...right.slice('sha256='.length)].map((digit) =>
    String.fromCharCode(0x0100 + digit.charCodeAt(0)),
  );
  expect(verify(`sha256=${disguised.join('')}`, body, [key])).toEqual({
    verified: false,
    reason: 'malformed',
  });
});

test('every key is compared, also after one that matched: how long it takes tells nothing', () => {
  const used: string[] = [];
  const counted = (text: string): SigningKey => ({
    text,
    get secret() {
      used.push(text);
      return signingKeyOf(text).secret;
    },
  });
  expect(verifySignature(right, body, [key, 'old', 'older'].map(counted)).verified).toBe(true);
  expect(used).toEqual([key, 'old', 'older']);
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
  const macOf = (key: string): string => signed(body, key).slice('sha256='.length);
  const active = ['current', 'previous', 'oldest'];
  const verify = (mac: string) => verifySignature(`sha256=${mac}`, body, active.map(signingKeyOf));

  /** The right one with another byte at an end: what a comparison that stops early tells from the others by its time. */
  const firstByteWrong = `${macOf('current').startsWith('00') ? '01' : '00'}${macOf('current').slice(2)}`;
  const lastByteWrong = `${macOf('current').slice(0, -2)}${macOf('current').endsWith('00') ? '01' : '00'}`;

  test.each([
    ['the current key', macOf('current')],
    ['the previous key', macOf('previous')],
    ['the oldest key', macOf('oldest')],
    ['no active key', macOf('withdrawn')],
    ['no key, as its first byte is wrong', firstByteWrong],
    ['no key, as its last byte is wrong', lastByteWrong],
    ['no key, all zeros', '0'.repeat(64)],
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
