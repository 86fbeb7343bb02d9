import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decryptText } from '#lib/provider/encrypt-and-decrypt.ts';
import {
  decryptCredentials,
  encryptCredentials,
  encryptRawCredentials,
  UndecryptableText,
} from '#lib/provider/index.ts';
import { type RunningSandbox, startSandbox } from '../../../../sandbox/sandbox.ts';
import { encryptedByOpenssl } from '../../../support/programs/openssl.ts';

test('credentials are encrypted under a session token, which decrypts them', () => {
  const value = { username: 'ana', password: 'p' };
  const text = encryptCredentials(value, 'session-token');
  expect(text).toMatch(/^[A-Za-z0-9+/=]+-[A-Za-z0-9+/=]+$/);
  expect(decryptCredentials(text, 'session-token')).toEqual(value);
  expect(() => decryptCredentials(text, 'another token')).toThrow(UndecryptableText);

  const request = {
    entity: 'demo-bank',
    credentials: { mode: 'raw', value },
    actions: [{ id: 'tef' }],
  } as const;
  const { credentials } = encryptRawCredentials(request, 'session-token');
  expect(credentials.mode).toBe('encrypted');
  expect(decryptCredentials(String(credentials.value), 'session-token')).toEqual(value);
});

const secret = 'session-token-ñ';
const iv = Buffer.from('000102030405060708090a0b0c0d0eff', 'hex');
const plaintext = '{"username":"ñandú","password":"p-w"}';
const good = encryptedByOpenssl(plaintext, secret, iv);
const [ciphertext = '', ivText = ''] = good.split('-');

const failureOf = (decrypt: () => unknown): unknown => {
  try {
    decrypt();
  } catch (error) {
    return error;
  }
  return undefined;
};

test.each([
  ['a JSON text', Buffer.from(plaintext)],
  ['nothing at all', Buffer.alloc(0)],
  ['one block of bytes that are no text', Buffer.alloc(16, 255)],
])('what the openssl command encrypted is decrypted: %s', (_what, bytes) => {
  expect(decryptText(encryptedByOpenssl(bytes, secret, iv), secret)).toEqual(bytes);
});

// test/fuzz/webhook damages ciphertexts, paddings and IVs in every way.
test('every refusal looks the same, so that nobody learns what was wrong', () => {
  const texts = ['', `${ciphertext}-`, `${good}-`, `${ciphertext.replace(/^./, '*')}-${ivText}`];
  const failures = [
    ...texts.map((text) => failureOf(() => decryptText(text, secret))),
    failureOf(() => decryptText(good, 'another secret')),
  ];
  for (const failure of failures) {
    expect(failure).toBeInstanceOf(UndecryptableText);
    expect(failure).toMatchObject({ message: 'The text could not be decrypted.', name: 'UndecryptableText' });
    expect(failure).not.toHaveProperty('cause');
    expect(Object.keys(failure as Error)).toEqual(['name']);
  }
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

describe('decryptCredentials', () => {
  test('gives back any credentials, under any token', () => {
    const anyText = fc.string({ unit: 'grapheme' });
    const anyFields = fc.dictionary(
      anyText.filter((name) => name !== '__proto__'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(anyFields, anyText, (fields, key) => {
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
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a byte order mark before it', '\ufeff{}'],
  ])('refuses a plaintext of %s as if it had not been decrypted', (_what, plaintext) => {
    const text = encryptedByOpenssl(plaintext, secret, iv);
    const failure = failureOf(() => decryptCredentials(text, secret));
    expect(failure).toStrictEqual(new UndecryptableText());
    expect(failure).not.toHaveProperty('cause');
  });
});
