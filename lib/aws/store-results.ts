import { createHash } from 'node:crypto';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { briefCallMs } from '../extraction/reconcile/read-task.ts';
import type { StoredResults } from '../extraction/record.ts';

/**
 * Stores the provider's answer unchanged under `{extractionId}/{sha256}.json`. The same bytes are always the same object, and other bytes
 * never overwrite it. The bucket encrypts by default. Throws the SDK's errors, and its AbortError if `isBrief` and the store takes longer
 * than `briefCallMs`.
 */
export const storeResultsIn =
  (client: S3Client, bucket: string) =>
  async (extractionId: string, bytes: Uint8Array, isBrief: boolean): Promise<StoredResults> => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const key = `${extractionId}/${sha256}.json`;
    await client.send(
      new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, ContentType: 'application/json' }),
      // The signal ends the try under way, and no retry follows.
      isBrief ? { abortSignal: AbortSignal.timeout(briefCallMs) } : {},
    );
    return { bucket, key, bytes: bytes.byteLength, sha256 };
  };
