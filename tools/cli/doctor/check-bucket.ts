import { HeadBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { type Finding, failed, passed } from './finding.ts';

/** Fails where the results bucket does not exist, or the operator has no access to it. */
export const checkBucket = async (client: S3Client, Bucket: string): Promise<Finding> => {
  try {
    await client.send(new HeadBucketCommand({ Bucket }));
    return passed('results bucket is reachable');
  } catch (error) {
    // An answer to HEAD has no body, so the SDK knows no more than its status.
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
    if (status === 404) {
      return failed(
        `results bucket ${Bucket} does not exist`,
        'Deploy the stack again. Until then no results can be collected.',
      );
    }
    if (status === 403)
      return failed(`no access to results bucket ${Bucket}`, 'You need s3:ListBucket on it.');
    throw error;
  }
};
