import { DecryptCommand, EncryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import {
  decodeSealed,
  encodeSealed,
  type SealedCredentialsData,
  type SealedRequestData,
  type SealedTargetData,
} from '../extraction/sealed-request-data.ts';

/**
 * Binds the ciphertext to its extraction: it cannot be opened as another one's, and CloudTrail shows whose it
 * was. A target's says its method too, by which the key's policy lets reconcile open targets and nothing else
 * (docs/decisions/0007-the-sealed-target-stays-in-the-executions-input.md).
 */
const credentialsContext = (extractionId: string) => ({ extractionId });
const targetContext = (extractionId: string) => ({ extractionId, method: 'consent' });

/** Encrypts under the seal key. Base64. */
export const sealWith =
  (client: KMSClient, keyArn: string) =>
  async (extractionId: string, plaintext: SealedRequestData): Promise<string> => {
    const { CiphertextBlob } = await client.send(
      new EncryptCommand({
        KeyId: keyArn,
        Plaintext: encodeSealed(plaintext),
        EncryptionContext:
          'target' in plaintext ? targetContext(extractionId) : credentialsContext(extractionId),
      }),
    );
    return Buffer.from(CiphertextBlob ?? []).toString('base64');
  };

const unsealWith =
  <Plaintext extends SealedRequestData>(contextOf: (extractionId: string) => Record<string, string>) =>
  (client: KMSClient, keyArn: string) =>
  async (extractionId: string, sealed: string): Promise<Plaintext> => {
    const { Plaintext } = await client.send(
      new DecryptCommand({
        KeyId: keyArn,
        CiphertextBlob: Buffer.from(sealed, 'base64'),
        EncryptionContext: contextOf(extractionId),
      }),
    );
    return decodeSealed<Plaintext>(Plaintext ?? new Uint8Array());
  };

/** Undoes `sealWith`, under this key only. Throws the SDK's errors; their messages hold no plaintext. */
export const unsealCredentialsWith = unsealWith<SealedCredentialsData>(credentialsContext);

/** Likewise, of a target. */
export const unsealTargetWith = unsealWith<SealedTargetData>(targetContext);
