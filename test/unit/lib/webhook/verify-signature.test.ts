import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import fc from 'fast-check';
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

// Case 5 of RFC 4231: the key twenty bytes of 0x0c, the tag cut to 128 bits. A cut tag is one that can be guessed.
test('the truncated tag of RFC 4231 is malformed', () => {
  const header = 'sha256=a3b6167473100ee06e0c796c2955552b';
  expect(verify(header, Buffer.from('Test With Truncation'), ['\u000c'.repeat(20)])).toEqual({
    verified: false,
    reason: 'malformed',
  });
});

// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries, "Testing the webhook payload
// validation": a webhook with the same scheme, under another header's name.
test('the example of GitHub verifies', () => {
  const secret = "It's a Secret to Everybody";
  const header = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  expect(verify(header, Buffer.from('Hello, World!'), [secret])).toEqual({
    verified: true,
    key: secret,
  });
});

// https://github.com/C2SP/wycheproof, testvectors_v1/hmac_sha256_test.json at 427a648c, flag ModifiedTag: "the purpose
// of the test is to check whether the verification fully checks the tag". The key of all of them is 0x00 to 0x1f; the
// keys of its valid vectors are no text.
describe('the modified tags of Wycheproof', () => {
  const vectorKey = String.fromCharCode(...Array.from({ length: 32 }, (_, index) => index));
  const message = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');

  test.each([
    [28, '', 'd28b42096d80f45f826b44a9d5607de72496a415d3f4a1a8c88e3bb9da8dc1cb'],
    [29, 'message', 'd9b99f2709a3ca74172cbe93824c1f29b23a0c1e9c21bd851ff2d2c39dbef14e'],
    [37, 'message', 'd8b99fa709a3ca74172cbe93824c1f29b23a0c1e9c21bd851ff2d2c39dbef14e'],
    [43, 'message', 'd8b99f2709a3caf4172cbe93824c1f29b23a0c1e9c21bd851ff2d2c39dbef14e'],
    [45, 'message', 'd8b99f2709a3ca74162cbe93824c1f29b23a0c1e9c21bd851ff2d2c39dbef14e'],
    [57, 'message', 'd8b99f2709a3ca74172cbe93024c1f29b23a0c1e9c21bd851ff2d2c39dbef14e'],
    [58, '', 'd38b42096d80f45f826b44a9d5607de72496a415d3f4a1a8c88e3bb9da8dc1ca'],
    [59, 'message', 'd8b99f2709a3ca74172cbe93824c1f29b23a0c1e9c21bd851ff2d2c39dbef14f'],
    [64, '', 'd38b42096d80f45f826b44a9d5607de72496a415d3f4a1a8c88e3bb9da8dc14b'],
    [65, 'message', 'd8b99f2709a3ca74172cbe93824c1f29b23a0c1e9c21bd851ff2d2c39dbef1ce'],
    [66, '', 'd28b42096d80f45f836b44a9d5607de72496a415d3f4a1a8c88e3bb9da8dc1cb'],
    [69, 'message', 'd8b99fa709a3caf4172cbe93824c1f29b23a0c1e9c21bd851ff2d2c39dbef14e'],
    [71, 'message', 'd8b99f2709a3caf4172cbe93824c1fa9b23a0c1e9c21bd851ff2d2c39dbef14e'],
    [72, '', '2c74bdf6927f0ba07d94bb562a9f8218db695bea2c0b5e573771c44625723e34'],
    [75, 'message', '0000000000000000000000000000000000000000000000000000000000000000'],
    [76, '', 'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'],
  ])('tcId %i does not match', (_tcId, what, tag) => {
    const data = what === 'message' ? message : Buffer.alloc(0);
    expect(verify(`sha256=${tag}`, data, [vectorKey])).toEqual({
      verified: false,
      reason: 'mismatch',
    });
  });

  test.each([
    ['', '2c74bdf6927f0ba07d94bb562a9f8218db695bea2c0b5e573771c44625723e34'],
    ['message', '274660d8f65c358be8d3416c7db3e0d64dc5f3e163de427ae00d2d3c62410eb1'],
  ])('but with all bits of tcId 72 and 73 flipped back they do', (what, flippedTag) => {
    const tag = Buffer.from(flippedTag, 'hex').map((byte) => byte ^ 0xff);
    const data = what === 'message' ? message : Buffer.alloc(0);
    expect(verify(`sha256=${Buffer.from(tag).toString('hex')}`, data, [vectorKey]).verified).toBe(true);
  });
});

test('a signature over the bytes of the body under the UTF-8 of the key verifies', () => {
  expect(verify(right, body, [key])).toEqual({ verified: true, key });
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

test('bytes that are no UTF-8 are verified as they are', () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
  expect(verify(signed(bytes, key), bytes, [key]).verified).toBe(true);
  // What decoding and encoding again would make of them.
  const mangled = Buffer.from(bytes.toString('utf8'), 'utf8');
  expect(verify(signed(bytes, key), mangled, [key]).verified).toBe(false);
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

// A header, whether its form is right, and what it was made for: a right one, a forged one, one of another body.
const arrived = fc.record({
  body: fc.uint8Array({ maxLength: 200 }),
  key: fc.string({ unit: 'binary', minLength: 1, maxLength: 150 }),
  header: fc.constantFrom('right', 'forged', 'of the one before', 'cut', 'not hex', 'missing'),
});

test('a sequence of deliveries is judged as each alone would be, under keys of any length', () => {
  fc.assert(
    fc.property(fc.array(arrived, { minLength: 2, maxLength: 10 }), (deliveries) => {
      let before = signed('', 'none');
      for (const { body, key, header: kind } of deliveries) {
        const own = signed(body, key);
        const header = {
          right: own,
          forged: signed(body, `${key}!`),
          'of the one before': before,
          cut: own.slice(0, -2),
          'not hex': `${own.slice(0, -1)}g`,
          missing: undefined,
        }[kind];
        const verified = header === own;
        expect(verify(header, body, ['another', key, 'yet another']).verified).toBe(verified);
        before = own;
      }
    }),
  );
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

// RFC 2104, section 2: a key longer than the block of the hash, 64 bytes, is hashed first. Here 64 and 65 bytes of
// UTF-8, and 64 characters that are 128 bytes.
test.each(['k'.repeat(64), 'k'.repeat(65), 'ñ'.repeat(64)])(
  'a key as long as the block, or longer, is whole',
  (long) => {
    expect(verify(signed(body, long), body, [long]).verified).toBe(true);
    expect(verify(signed(body, long), body, [long.slice(0, -1)]).verified).toBe(false);
  },
);

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
