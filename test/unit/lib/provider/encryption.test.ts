import { execFile } from 'node:child_process';
import { createCipheriv, createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decryptText } from '../../../../lib/provider/encryption-scheme.ts';
import { decryptCredentials, encryptCredentials, UndecryptableText } from '../../../../lib/provider/index.ts';
import { type RunningSandbox, startSandbox } from '../../../sandbox/sandbox.ts';
import { encryptedByOpenssl } from '../../../support/openssl.ts';

const secret = 'session-token-ñ';
const iv = Buffer.from('000102030405060708090a0b0c0d0eff', 'hex');
const plaintext = '{"username":"ñandú","password":"p-w"}';
const good = encryptedByOpenssl(plaintext, secret, iv);
const [ciphertext = '', ivText = ''] = good.split('-');

const failureOf = (text: string, key = secret): unknown => {
  try {
    decryptText(text, key);
  } catch (error) {
    return error;
  }
  return undefined;
};

test.each([
  ['a JSON text', Buffer.from(plaintext)],
  ['nothing at all', Buffer.alloc(0)],
  ['exactly one block', Buffer.from('0123456789abcdef')],
  ['bytes that are no text', Buffer.from([0, 255, 254, 128])],
  ['many blocks', Buffer.alloc(5_000, 'x')],
])('what the openssl command encrypted is decrypted: %s', (_what, bytes) => {
  expect(decryptText(encryptedByOpenssl(bytes, secret, iv), secret)).toEqual(bytes);
});

test('any plaintext under any secret comes back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.string({ unit: 'grapheme' }), (bytes, key) => {
      const digest = createHash('sha256').update(Buffer.from(key, 'utf8')).digest();
      const cipher = createCipheriv('aes-256-cbc', digest, iv);
      const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
      const text = `${encrypted.toString('base64')}-${iv.toString('base64')}`;
      expect(decryptText(text, key)).toEqual(Buffer.from(bytes));
    }),
  );
});

const damaged = (index: number): string => {
  const bytes = Buffer.from(ciphertext, 'base64');
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return `${bytes.toString('base64')}-${ivText}`;
};

const malformed: readonly (readonly [string, string])[] = [
  ['is empty', ''],
  ['has no hyphen', `${ciphertext}${ivText}`],
  ['has two hyphens', `${ciphertext}-${ivText}-`],
  ['has an IV first and more after', `${ciphertext}-${ivText}-${ivText}`],
  ['has no ciphertext', `-${ivText}`],
  ['has no IV', `${ciphertext}-`],
  ['is only a hyphen', '-'],
  ['has an IV of 15 bytes', `${ciphertext}-${iv.subarray(1).toString('base64')}`],
  ['has an IV of 17 bytes', `${ciphertext}-${Buffer.concat([iv, Buffer.of(1)]).toString('base64')}`],
  ['has an IV that is not base64', `${ciphertext}-${ivText.replace(/^./, '*')}`],
  ['has an IV without padding', `${ciphertext}-${ivText.replace(/=+$/, '')}`],
  ['has a ciphertext that is not base64', `${ciphertext.replace(/^./, '*')}-${ivText}`],
  ['has base64url in it', `${ciphertext.replace(/^./, '_')}-${ivText}`],
  ['has a line break in it', `${ciphertext.slice(0, 8)}\n${ciphertext.slice(8)}-${ivText}`],
  ['has a space after it', `${good} `],
  [
    'is one byte short of a block',
    `${Buffer.from(ciphertext, 'base64').subarray(1).toString('base64')}-${ivText}`,
  ],
  [
    'lost its last block',
    `${Buffer.from(ciphertext, 'base64').subarray(0, 16).toString('base64')}-${ivText}`,
  ],
  // The padding is the last block's: a flip in the block before it changes the padding's bytes.
  ['has a damaged padding', damaged(Buffer.from(ciphertext, 'base64').length - 17)],
];

test.each(malformed)('a text that %s is refused', (_what, text) => {
  expect(failureOf(text)).toBeInstanceOf(UndecryptableText);
});

// The kinds of padding that are none by PKCS #7, as https://github.com/C2SP/wycheproof, aes_cbc_pkcs5_test.json, has
// them. (Published vectors of CBC itself, NIST SP 800-38A among them, name the AES key, and no secret is known whose
// SHA-256 is one of those: the openssl command is the other implementation here.)
const endings: readonly (readonly [string, readonly number[]])[] = [
  ['zeros', [0, 0, 0, 0]],
  ['ISO 7816-4', [0x80, 0, 0, 0]],
  ['ANSI X9.23', [0, 0, 0, 4]],
  ['PKCS #7 with a flipped bit', [4, 4, 5, 4]],
  ['a padding longer than what there is', [17, 17, 17, 17]],
  ['a padding of 255', [255, 255, 255, 255]],
  ['a padding of five in four bytes', [5, 5, 5, 5]],
  ['nothing: the text fills the block', [0x20, 0x20, 0x20, 0x7d]],
];

test.each(endings)('a plaintext that ends in %s is refused', (_what, ending) => {
  const key = createHash('sha256').update(secret, 'utf8').digest();
  const cipher = createCipheriv('aes-256-cbc', key, iv).setAutoPadding(false);
  const padded = Buffer.concat([Buffer.from('{"username":'), Buffer.from(ending)]);
  const text = Buffer.concat([cipher.update(padded), cipher.final()]).toString('base64');
  expect(failureOf(`${text}-${ivText}`)).toBeInstanceOf(UndecryptableText);
});

test('every refusal looks the same, so that nobody learns what was wrong', () => {
  const failures = [...malformed.map(([, text]) => failureOf(text)), failureOf(good, 'another secret')];
  for (const failure of failures) {
    expect(failure).toBeInstanceOf(UndecryptableText);
    const error = failure as UndecryptableText;
    expect(error.message).toBe('The text could not be decrypted.');
    expect(error.name).toBe('UndecryptableText');
    expect('cause' in error).toBe(false);
    expect(Object.keys(error)).toEqual(['name']);
  }
});

test('whatever the text, a failure is the one named error', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(failureOf(text)).toBeInstanceOf(UndecryptableText);
    }),
  );
});

const docs = new URL('../../../../docs/', import.meta.url);
const page = readFileSync(new URL('provider-client.md', docs), 'utf8');

let sandbox: RunningSandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ taskDurationMs: 50 });
});
afterAll(() => sandbox.close());

test('the example of docs/provider-client.md runs as it stands, and prints what the page says', async () => {
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  const [, printed = ''] = /It prints\n\n```\n([\s\S]*?)```/.exec(page) ?? [];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module-typescript', '--eval', example],
    {
      cwd: fileURLToPath(docs),
      env: {
        ...process.env,
        PROVIDER_BASE_URL: sandbox.baseUrl,
        PROVIDER_API_KEY: sandbox.apiKey,
        PROVIDER_CLIENT_ID: sandbox.clientId,
      },
    },
  );
  expect(stdout).toBe(printed);
  expect(printed).not.toBe('');
});

describe('credentials', () => {
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

  describe('decryptCredentials', () => {
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
});
