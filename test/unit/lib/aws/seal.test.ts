import type { KMSClient } from '@aws-sdk/client-kms';
import { expect, test } from 'vitest';
import { sealWith, unsealCredentialsWith, unsealTargetWith } from '../../../../lib/aws/seal.ts';
import { stubClient } from '../../../support/stub-client.ts';

/** A KMS that "encrypts" by turning bits over, and refuses another key or another encryption context. */
const kms = () =>
  stubClient<KMSClient>(({ input }) => {
    const binding = JSON.stringify([input.KeyId, input.EncryptionContext]);
    if (input.Plaintext !== undefined) {
      const flipped = Buffer.from(input.Plaintext as Uint8Array).map((byte) => byte ^ 0xff);
      return { CiphertextBlob: new Uint8Array(Buffer.concat([Buffer.from(`${binding}\0`), flipped])) };
    }
    const sealed = Buffer.from(input.CiphertextBlob as Uint8Array);
    const end = sealed.indexOf(0);
    if (sealed.subarray(0, end).toString() !== binding) throw new Error('InvalidCiphertextException');
    return { Plaintext: new Uint8Array(sealed.subarray(end + 1).map((byte) => byte ^ 0xff)) };
  });

const plaintext = {
  credentials: { mode: 'raw', value: { username: 'ñandú', password: 'p"w\\\u{1f600}', businessId: '7' } },
} as const;

const ids = { extractionId: 'extraction-1', requestId: 'request-1' };

test('what was sealed for an extraction is unsealed for it, to the letter', async () => {
  const { client } = kms();
  const sealed = await sealWith(client, 'arn:key')(ids, plaintext);
  expect(await unsealCredentialsWith(client, 'arn:key')({ ...ids, sealed })).toEqual(plaintext);
});

test('the sealed text is plain base64 and holds nothing of the plaintext', async () => {
  const sealed = await sealWith(kms().client, 'arn:key')(ids, plaintext);
  expect(sealed).toMatch(/^[A-Za-z0-9+/]+=*$/);
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('businessId');
});

test('it can be opened neither as another extraction’s nor under another key', async () => {
  const { client } = kms();
  const sealed = await sealWith(client, 'arn:key')(ids, plaintext);
  await expect(
    unsealCredentialsWith(client, 'arn:key')({ ...ids, extractionId: 'extraction-2', sealed }),
  ).rejects.toThrow('InvalidCiphertext');
  await expect(unsealCredentialsWith(client, 'arn:other')({ ...ids, sealed })).rejects.toThrow(
    'InvalidCiphertext',
  );
});

test('a caller’s session token is sealed along', async () => {
  const { client } = kms();
  const given = { credentials: { mode: 'encrypted', value: 'a-b' }, sessionToken: 'st' } as const;
  const sealed = await sealWith(client, 'arn:key')(ids, given);
  expect(await unsealCredentialsWith(client, 'arn:key')({ ...ids, sealed })).toEqual(given);
});

test('a target is sealed as a consent’s, and opened only as such', async () => {
  const { client } = kms();
  const sealed = await sealWith(client, 'arn:key')(ids, { target: '11111111-1' });
  expect(await unsealTargetWith(client, 'arn:key')({ ...ids, sealed })).toEqual({ target: '11111111-1' });
  await expect(unsealCredentialsWith(client, 'arn:key')({ ...ids, sealed })).rejects.toThrow(
    'InvalidCiphertext',
  );
});

test('credentials cannot be opened as a target, which is all that reconcile may open', async () => {
  const { client } = kms();
  const sealed = await sealWith(client, 'arn:key')(ids, plaintext);
  await expect(
    unsealTargetWith(client, 'arn:key')({ extractionId: 'extraction-1', requestId: 'request-1', sealed }),
  ).rejects.toThrow('InvalidCiphertext');
});
