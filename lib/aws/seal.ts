import { DecryptCommand, EncryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import { decodeSealed, encodeSealed, type SealedPlaintext } from '../extraction/sealed-plaintext.ts';

/**
 * Encrypts under the seal key. The encryption context binds the ciphertext to its extraction: it cannot be
 * opened as another one's, and CloudTrail shows whose it was. Base64.
 */
export const sealWith =
  (client: KMSClient, keyArn: string) =>
  async (extractionId: string, plaintext: SealedPlaintext): Promise<string> => {
    const { CiphertextBlob } = await client.send(
      new EncryptCommand({
        KeyId: keyArn,
        Plaintext: encodeSealed(plaintext),
        EncryptionContext: { extractionId },
      }),
    );
    return Buffer.from(CiphertextBlob ?? []).toString('base64');
  };

/** Undoes `sealWith`, under this key only. Throws the SDK's errors; their messages hold no plaintext. */
export const unsealWith =
  (client: KMSClient, keyArn: string) =>
  async (extractionId: string, sealed: string): Promise<SealedPlaintext> => {
    const { Plaintext } = await client.send(
      new DecryptCommand({
        KeyId: keyArn,
        CiphertextBlob: Buffer.from(sealed, 'base64'),
        EncryptionContext: { extractionId },
      }),
    );
    return decodeSealed(Plaintext ?? new Uint8Array());
  };
