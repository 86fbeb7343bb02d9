import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { plusSeconds } from '../extraction/deadlines.ts';
import type { StoredResults } from '../extraction/record.ts';

/** The lifetime of the URL. It is enough to follow the link, and short because a caller may log the URL. */
const validSeconds = 300;

/**
 * Returns a URL that reads the stored results without credentials for 5 minutes. S3 answers with these two headers, so that no cache
 * keeps bank data, and no browser shows it as a page
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html#API_GetObject_RequestSyntax).
 */
export const presignResults =
  (client: S3Client, now: () => Date) =>
  async ({ bucket, key }: StoredResults): Promise<{ readonly url: string; readonly expiresAt: string }> => {
    const command = new GetObjectCommand({
      Bucket: bucket,
      Key: key,
      ResponseCacheControl: 'no-store',
      ResponseContentDisposition: 'attachment',
    });
    const expiresAt = plusSeconds(now(), validSeconds);
    return { url: await getSignedUrl(client, command, { expiresIn: validSeconds }), expiresAt };
  };
