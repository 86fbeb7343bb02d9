import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CreateKeyCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { secretFinder } from './find-secrets.ts';
import { keepAnswer, keptAnswers } from './kept-answers.ts';
import { keptInFiles } from './kept-in-files.ts';
import { headOf } from './sealed-requests.ts';
import { search } from './search.ts';

const { client } = inject('cosecha');

/** Known to these tests alone. The search after the suite does not search for it. */
const planted = `planted${randomBytes(8).toString('hex')}`;
const secrets = [{ kind: 'planted', value: planted }] as const;

const escapedAll = (text: string, prefix: string): string =>
  [...text].map((letter) => `${prefix}${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const base64 = Buffer.from(`{"note":"${planted}"}`).toString('base64');
const hex = Buffer.from(`x${planted}`).toString('hex');
const gzip = gzipSync(`{"note":"${planted}"}`);
const jsonEscaped = escapedAll(planted, '\\u00');
const urlEncoded = escapedAll(planted, '%');

/** A zip of one deflated file without a directory. The search only reads local headers. */
const zipOf = (content: string): Buffer => {
  const header = Buffer.alloc(30);
  header.write('PK\x03\x04', 'latin1');
  header.writeUInt16LE(8, 8);
  // A gzip is a header of 10 bytes, the deflated data and 8 bytes of checksum.
  return Buffer.concat([header, gzipSync(content).subarray(10, -8)]);
};

describe('the search finds a secret', () => {
  const find = secretFinder([
    ...secrets,
    { kind: 'national id', value: '12345678-5' },
    { kind: 'callback token', value: '01a1fe77-25a5-4abc-83e6-41aadf52e1b0' },
    { kind: 'MAC of credentials', value: '0123456789abcdef0123456789abcdef' },
  ]);

  test.for([
    ['as it is', Buffer.from(`a ${planted} b`)],
    ['in base64', Buffer.from(base64)],
    ['in the middle of base64 text', Buffer.from(Buffer.from(`12${planted}34`).toString('base64'))],
    [
      'in base64url that follows other text',
      Buffer.from(`token-${Buffer.from(planted).toString('base64url')}`),
    ],
    ['in base64 of base64', Buffer.from(Buffer.from(base64).toString('base64'))],
    ['in hexadecimal', Buffer.from(hex)],
    ['in JSON escapes', Buffer.from(`{"note":"${jsonEscaped}"}`)],
    ['in URL escapes', Buffer.from(`?note=${urlEncoded}`)],
    ['in a gzip', gzip],
    ['in base64 of a gzip', Buffer.from(gzip.toString('base64'))],
    ['in a zip', zipOf(`some code ${planted}`)],
  ] as const)('%s', ([, bytes]) => {
    expect([...find(bytes)]).toEqual(['planted']);
  });

  test.for(['12345678-5', '12.345.678-5', '123456785', '12345678'])(
    'that is a national id, written %s',
    (spelling) => {
      const body = `{"target":"${spelling}"}`;
      expect([...find(Buffer.from(body))]).toEqual(['national id']);
      expect([...find(Buffer.from(Buffer.from(body).toString('base64')))]).toEqual(['national id']);
    },
  );

  test('that is a callback token', () => {
    const bytes = Buffer.from('{"callbackToken":"01a1fe77-25a5-4abc-83e6-41aadf52e1b0"}');
    expect([...find(bytes)]).toEqual(['callback token']);
  });

  test('that is a MAC of credentials, and no part of a longer run of digits', () => {
    const line = (mac: string) => Buffer.from(`{"message":"mac ${mac}"}`);
    expect([...find(line('0123456789abcdef0123456789abcdef'))]).toEqual(['MAC of credentials']);
    expect([...find(line('00123456789abcdef0123456789abcdef'))]).toEqual([]);
  });

  test('and reports none in text without one', () => {
    const bytes = Buffer.from(
      '{"id":"12345678-25a5-4abc-83e6-41aadf52e1b0","at":1234567890123,"note":"planted"}',
    );
    expect([...find(bytes)]).toEqual([]);
  });
});

test('the search finds what is sealed of a request', async () => {
  const keys = new KMSClient(client);
  const { KeyMetadata } = await keys.send(new CreateKeyCommand({}));
  const KeyId = KeyMetadata?.KeyId ?? '';
  const context = { extractionId: randomUUID(), requestId: 'request-1', method: 'consent' };
  const sealFor = async (EncryptionContext: Record<string, string>) => {
    const command = new EncryptCommand({ KeyId, Plaintext: Buffer.from(planted), EncryptionContext });
    return (await keys.send(command)).CiphertextBlob;
  };
  const find = secretFinder([{ kind: 'used sealed request', value: headOf(KeyId, context) }]);
  const inInput = (sealed: Uint8Array = Buffer.alloc(0)): Buffer =>
    Buffer.from(
      JSON.stringify({ extractionId: context.extractionId, sealed: Buffer.from(sealed).toString('base64') }),
    );
  expect([...find(inInput(await sealFor(context)))]).toEqual(['used sealed request']);
  expect([...find(inInput(await sealFor({ ...context, requestId: 'request-2' })))]).toEqual([]);
});

describe('the search of files and answers', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cosecha-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  test('finds a secret in a file', async () => {
    const run = join(directory, 'run');
    await mkdir(run);
    await writeFile(join(run, 'some.log'), gzip);
    const leaks = await search(keptInFiles(run), secrets);
    expect(leaks).toEqual([{ location: 'file', name: 'some.log', kind: 'planted' }]);
  });

  test('finds a secret in an answer to a caller, and names the request', async () => {
    const answers = join(directory, 'answers.jsonl');
    const request = 'POST /extractions';
    keepAnswer(answers, { request, status: 202, headers: {}, body: '{}' });
    keepAnswer(answers, { request, status: 400, headers: {}, body: JSON.stringify({ detail: planted }) });
    const leaks = await search(keptAnswers(answers), secrets);
    expect(leaks).toEqual([{ location: 'answer', name: 'POST /extractions 400', kind: 'planted' }]);
  });
});
