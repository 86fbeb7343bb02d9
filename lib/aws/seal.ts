import { DecryptCommand, EncryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import {
  decodeSealed,
  encodeSealed,
  type SealedCredentialsData,
  type SealedRequestData,
  type SealedTargetData,
} from '../extraction/sealed-request-data.ts';

/**
 * The encryption context binds a ciphertext to its extraction. KMS refuses to decrypt it for another one, and
 * CloudTrail logs the extractionId. The context of a target also contains its method. The key policy allows
 * reconcile to decrypt only ciphertexts with that method
 * (docs/decisions/0007-the-sealed-target-stays-in-the-executions-input.md).
 */
const credentialsContext = (extractionId: string) => ({ extractionId });
const targetContext = (extractionId: string) => ({ extractionId, method: 'consent' });

/** Encrypts with the seal key. Returns base64. Throws the SDK's errors. */
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

/** Decrypts sealed credentials. Throws the SDK's errors, whose messages contain no plaintext. */
export const unsealCredentialsWith = unsealWith<SealedCredentialsData>(credentialsContext);

/** Decrypts a sealed target. Throws the SDK's errors, whose messages contain no plaintext. */
export const unsealTargetWith = unsealWith<SealedTargetData>(targetContext);
