import { DecryptCommand, EncryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import type { Extraction } from '../extraction/record.ts';
import { purposeDigest } from '../extraction/request-data.ts';
import {
  decodeSealed,
  encodeSealed,
  type SealedCredentialsData,
  type SealedRequestData,
  type SealedTargetData,
} from '../extraction/sealed-request-data.ts';

/**
 * The encryption context binds a ciphertext to its extraction, its item in `Requests`, and its purpose. With any other context, KMS refuses
 * to decrypt it. CloudTrail logs both ids. The context of a target also contains its method, because the key policy allows reconcile to
 * decrypt only ciphertexts with that method (docs/decisions/0017-sealed-data-in-a-table-of-their-own.md).
 */
export const credentialsContext = (record: Extraction) => ({
  extractionId: record.extractionId,
  requestId: record.requestId,
  purpose: purposeDigest(record),
});
export const targetContext = (record: Extraction) => ({ ...credentialsContext(record), method: 'consent' });

/** Encrypts with the seal key. Returns base64. Throws the SDK's errors. */
export const sealWith =
  (client: KMSClient, keyArn: string) =>
  async (record: Extraction, plaintext: SealedRequestData): Promise<string> => {
    const { CiphertextBlob } = await client.send(
      new EncryptCommand({
        KeyId: keyArn,
        Plaintext: encodeSealed(plaintext),
        EncryptionContext: 'target' in plaintext ? targetContext(record) : credentialsContext(record),
      }),
    );
    return Buffer.from(CiphertextBlob ?? []).toString('base64');
  };

const unsealWith =
  <Plaintext extends SealedRequestData>(contextOf: (record: Extraction) => Record<string, string>) =>
  (client: KMSClient, keyArn: string) =>
  async (record: Extraction, { sealed }: { readonly sealed: string }): Promise<Plaintext> => {
    const { Plaintext } = await client.send(
      new DecryptCommand({
        KeyId: keyArn,
        CiphertextBlob: Buffer.from(sealed, 'base64'),
        EncryptionContext: contextOf(record),
      }),
    );
    return decodeSealed<Plaintext>(Plaintext ?? new Uint8Array());
  };

/** Decrypts sealed credentials. Throws the SDK's errors, whose messages contain no plaintext. */
export const unsealCredentialsWith = unsealWith<SealedCredentialsData>(credentialsContext);

/** Decrypts a sealed target. Throws the SDK's errors, whose messages contain no plaintext. */
export const unsealTargetWith = unsealWith<SealedTargetData>(targetContext);
