import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifySignature } from '../../../../lib/webhook/verify-signature.ts';
import { signed } from './sign.ts';

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
    expect(verifySignature(`sha256=${mac}`, Buffer.from(data), [vectorKey])).toEqual({
      verified: true,
      key: vectorKey,
    });
  });
});

test('a signature over the bytes of the body under the UTF-8 of the key verifies', () => {
  expect(verifySignature(right, body, [key])).toEqual({ verified: true, key });
});

test('the case of the hex is free', () => {
  const upper = `sha256=${right.slice('sha256='.length).toUpperCase()}`;
  expect(verifySignature(upper, body, [key])).toEqual({ verified: true, key });
});

test('a missing header is told from a malformed one', () => {
  expect(verifySignature(undefined, body, [key])).toEqual({ verified: false, reason: 'missing' });
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
  expect(verifySignature(header, body, [key])).toEqual({ verified: false, reason: 'malformed' });
});

test('another key does not match', () => {
  expect(verifySignature(signed(body, 'another'), body, [key])).toEqual({
    verified: false,
    reason: 'mismatch',
  });
});

test('no key at all matches nothing', () => {
  expect(verifySignature(right, body, [])).toEqual({ verified: false, reason: 'mismatch' });
});

test('a body that differs in one byte, anywhere, does not match', () => {
  fc.assert(
    fc.property(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), (index, flip) => {
      const altered = Buffer.from(body);
      altered[index] = (altered[index] ?? 0) ^ flip;
      expect(verifySignature(right, altered, [key])).toEqual({ verified: false, reason: 'mismatch' });
    }),
  );
});

test('a signature that differs in one digit, anywhere, does not match', () => {
  for (let index = 7; index < right.length; index += 1) {
    const other = right[index] === '0' ? '1' : '0';
    const altered = `${right.slice(0, index)}${other}${right.slice(index + 1)}`;
    expect(verifySignature(altered, body, [key]).verified).toBe(false);
  }
});

test('bytes that are no UTF-8 are verified as they are', () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
  expect(verifySignature(signed(bytes, key), bytes, [key]).verified).toBe(true);
  // What decoding and encoding again would make of them.
  const mangled = Buffer.from(bytes.toString('utf8'), 'utf8');
  expect(verifySignature(signed(bytes, key), mangled, [key]).verified).toBe(false);
});

test('with several active keys the one that matches is told, wherever it stands', () => {
  for (const keys of [
    [key, 'old', 'older'],
    ['new', key, 'older'],
    ['new', 'old', key],
  ]) {
    expect(verifySignature(right, body, keys)).toEqual({ verified: true, key });
  }
});

test('whatever the header, the answer is a value', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (header) => {
      expect(verifySignature(header, body, [key])).toEqual({ verified: false, reason: 'malformed' });
    }),
  );
});
