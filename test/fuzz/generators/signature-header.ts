import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { signatureHeader } from '../../support/data/signature-header.ts';

/** What may be done to a right header. `as it is` and the two of hex case leave it right. */
const manglings = {
  'as it is': (right: string) => right,
  'in capitals': (right: string) => `sha256=${right.slice(7).toUpperCase()}`,
  'in mixed case': (right: string) =>
    `sha256=${[...right.slice(7)].map((digit, at) => (at % 2 === 0 ? digit.toUpperCase() : digit)).join('')}`,
  empty: () => '',
  'only the scheme': () => 'sha256=',
  'without scheme': (right: string) => right.slice(7),
  'scheme in capitals': (right: string) => right.replace('sha256', 'SHA256'),
  'scheme of SHA-1': (right: string) => right.replace('sha256', 'sha1'),
  'scheme of SHA-512': (right: string) => right.replace('sha256', 'sha512'),
  'scheme twice': (right: string) => `sha256=${right}`,
  'a digit short': (right: string) => right.slice(0, -1),
  'a digit long': (right: string) => `${right}0`,
  'a byte short': (right: string) => right.slice(0, -2),
  'half of it': (right: string) => right.slice(0, 7 + 32),
  'two in one': (right: string) => `${right},${right}`,
  'two in one, a wrong one first': (right: string) => `sha256=${'0'.repeat(64)},${right}`,
  'a space before': (right: string) => ` ${right}`,
  'a space behind': (right: string) => `${right} `,
  'a line break behind': (right: string) => `${right}\n`,
  'a NUL behind': (right: string) => `${right}\0`,
  quoted: (right: string) => `"${right}"`,
  'full-width digits': (right: string) => right.replace(/[0-9](?=[^=]*$)/, '０'),
  // To Node's decoder of hex, U+0130 is a 0.
  'digits by their low bytes': (right: string) =>
    `sha256=${[...right.slice(7)].map((digit) => String.fromCharCode(0x0100 + digit.charCodeAt(0))).join('')}`,
  'a digit that is none': (right: string) => right.replace(/.$/, 'g'),
  'in base64': (right: string) => `sha256=${Buffer.from(right.slice(7), 'hex').toString('base64')}`,
  zeros: () => `sha256=${'0'.repeat(64)}`,
  'last byte other': (right: string) => `${right.slice(0, -2)}${right.endsWith('00') ? '01' : '00'}`,
  'first byte other': (right: string) => `sha256=${right.startsWith('00', 7) ? '01' : '00'}${right.slice(9)}`,
} as const;
export type Mangling = keyof typeof manglings;

export const mangled = (right: string, mangling: Mangling): string => manglings[mangling](right);

/** What is signed in place of the body's bytes under the key. */
const mistakes = {
  none: signatureHeader,
  'another body': (body: Uint8Array, key: string) =>
    signatureHeader(Buffer.concat([body, Buffer.of(0)]), key),
  'the base64 of the body': (body: Uint8Array, key: string) =>
    signatureHeader(Buffer.from(Buffer.from(body).toString('base64')), key),
  'an empty body': (_body: Uint8Array, key: string) => signatureHeader(Buffer.alloc(0), key),
  'by SHA-512, cut': (body: Uint8Array, key: string) =>
    `sha256=${createHmac('sha512', key).update(body).digest('hex').slice(0, 64)}`,
  'by SHA-3': (body: Uint8Array, key: string) =>
    `sha256=${createHmac('sha3-256', key).update(body).digest('hex')}`,
  'the body under itself': (body: Uint8Array) =>
    `sha256=${createHmac('sha256', body).update(body).digest('hex')}`,
} as const;
export type Mistake = keyof typeof mistakes;

export const signedWith = (body: Uint8Array, key: string, mistake: Mistake): string =>
  mistakes[mistake](body, key);

export const mangling: fc.Arbitrary<Mangling> = fc.constantFrom(...(Object.keys(manglings) as Mangling[]));
export const mistake: fc.Arbitrary<Mistake> = fc.constantFrom(...(Object.keys(mistakes) as Mistake[]));
