import { HeadBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { type Finding, failed, passed } from './finding.ts';

/** Whether the bucket of the results is there. */
export const checkBucket = async (client: S3Client, Bucket: string): Promise<Finding> => {
  try {
    await client.send(new HeadBucketCommand({ Bucket }));
    return passed('results bucket is reachable');
  } catch (error) {
    // An answer to HEAD has no body, so no words of S3's own.
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
    if (status === 404)
      return failed(`results bucket ${Bucket} is gone`, 'Deploy the stack again; results wait.');
    if (status === 403)
      return failed(`results bucket ${Bucket} is closed to you`, 'You need s3:ListBucket on it.');
    throw error;
  }
};
