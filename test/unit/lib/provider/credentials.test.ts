import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decryptCredentials,
  encryptCredentials,
  encryptRawCredentials,
  type TaskRequest,
  UndecryptableText,
} from '../../../../lib/provider/index.ts';
import { decryptedByOpenssl, encryptedByOpenssl } from '../../../support/openssl.ts';

const token = 'session-token-ñ';
const credentials = { username: 'ñandú', password: 'p-w', businessId: '77777777-7' };
const iv = Buffer.from('000102030405060708090a0b0c0d0eff', 'hex');

const failureOf = (text: string, key = token): unknown => {
  try {
    return decryptCredentials(text, key);
  } catch (error) {
    return error;
  }
};

describe('encryptCredentials', () => {
  test('writes what the openssl command writes', () => {
    const plaintext = Buffer.from(JSON.stringify(credentials));
    expect(encryptCredentials(credentials, token, iv)).toBe(encryptedByOpenssl(plaintext, token, iv));
  });

  test('writes what the openssl command reads', () => {
    const text = encryptCredentials(credentials, token);
    expect(JSON.parse(decryptedByOpenssl(text, token))).toEqual(credentials);
  });

  test('draws a new IV of 16 bytes every time', () => {
    const texts = Array.from({ length: 50 }, () => encryptCredentials(credentials, token).split('-'));
    expect(new Set(texts.map(([ciphertext]) => ciphertext)).size).toBe(50);
    expect(new Set(texts.map(([, text]) => text)).size).toBe(50);
    for (const [, text = ''] of texts) expect(Buffer.from(text, 'base64')).toHaveLength(16);
  });

  test('takes no IV of another length', () => {
    expect(() => encryptCredentials(credentials, token, iv.subarray(1))).toThrow();
  });
});

describe('decryptCredentials', () => {
  test('reads what the openssl command wrote', () => {
    const plaintext = Buffer.from(JSON.stringify(credentials));
    expect(decryptCredentials(encryptedByOpenssl(plaintext, token, iv), token)).toEqual(credentials);
  });

  test('gives back any credentials, under any token', () => {
    const anyFields = fc.dictionary(
      fc.string({ unit: 'grapheme' }).filter((name) => name !== '__proto__'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(anyFields, fc.string({ unit: 'grapheme' }), (fields, key) => {
        const text = encryptCredentials(fields, key);
        expect(text.split('-')).toHaveLength(2);
        expect(decryptCredentials(text, key)).toEqual(JSON.parse(JSON.stringify(fields)));
      }),
    );
  });

  test.each([
    ['a text', '"sentinel"'],
    ['a list', '["sentinel"]'],
    ['null', 'null'],
    ['no JSON', 'sentinel'],
    ['nothing', ''],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a byte order mark before it', '\ufeff{}'],
  ])('refuses a plaintext of %s as if it had not been decrypted', (_what, plaintext) => {
    const failure = failureOf(encryptedByOpenssl(plaintext, token, iv));
    expect(failure).toEqual(failureOf('no such text'));
    expect(failure).toBeInstanceOf(UndecryptableText);
    expect('cause' in (failure as Error)).toBe(false);
  });

  test('refuses the text of another token', () => {
    expect(failureOf(encryptCredentials(credentials, token), 'another')).toBeInstanceOf(UndecryptableText);
  });

  test('refuses every text that lost or gained something, and never answers with another object', () => {
    const good = encryptCredentials(credentials, token, iv);
    const anyChange = fc.tuple(fc.nat(good.length), fc.nat(3), fc.string({ unit: 'binary', maxLength: 3 }));
    fc.assert(
      fc.property(anyChange, ([place, taken, put]) => {
        const text = good.slice(0, place) + put + good.slice(place + taken);
        const outcome = failureOf(text);
        // The padding bits of base64's last character carry nothing: such a text is the same text.
        if (outcome instanceof UndecryptableText) return;
        expect(outcome).not.toBeInstanceOf(Error);
        if (text.split('-')[0] === good.split('-')[0]) return;
        expect(text.split('-')[1]).toBe(good.split('-')[1]);
      }),
    );
  });
});

describe('encryptRawCredentials', () => {
  const request = (value: TaskRequest['credentials']): TaskRequest => ({
    entity: 'demo-bank',
    credentials: value,
    actions: [{ id: 'tef' }],
  });

  test('encrypts raw credentials under the token, and nothing else of the request', () => {
    const raw = request({ mode: 'raw', value: credentials });
    expect(encryptRawCredentials(raw, token, iv)).toEqual({
      ...raw,
      credentials: { mode: 'encrypted', value: encryptCredentials(credentials, token, iv) },
    });
  });

  test.each(['encrypted', 'persisted'] as const)('leaves %s ones alone', (mode) => {
    const other = request({ mode, value: 'text' });
    expect(encryptRawCredentials(other, token)).toBe(other);
  });
});
