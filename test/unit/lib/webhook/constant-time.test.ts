import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { signingKeyOf } from '../../../../lib/webhook/signing-keys.ts';
import { verifySignature } from '../../../../lib/webhook/verify-signature.ts';
import { signed } from '../../../support/sign.ts';

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
  expect(compared.map((pair) => pair.toSorted())).toEqual(active.map((key) => [macOf(key), mac].toSorted()));
});

test('nothing but these comparisons decides', () => {
  answering(false);
  expect(verify(macOf('current'))).toEqual({ verified: false, reason: 'mismatch' });
  answering(true);
  expect(verify(macOf('withdrawn'))).toEqual({ verified: true, key: 'current' });
});
