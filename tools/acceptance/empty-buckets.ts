import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { S3Client } from '@aws-sdk/client-s3';
import { describeStack, readStackResources } from '../cli/aws/stack.ts';
import { removeObjects } from '../cli/operate/erase-on-aws.ts';

/**
 * Deletes every object in the buckets of a stack, as CloudFormation deletes only empty ones
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3-bucket.html). Does nothing
 * without the stack.
 */
export const emptyBuckets = async (stackName: string): Promise<void> => {
  const cloudFormation = new CloudFormationClient();
  if ((await describeStack(cloudFormation, stackName)) === undefined) return;
  const buckets = (await readStackResources(cloudFormation, stackName)).get('AWS::S3::Bucket') ?? [];
  const s3 = new S3Client();
  for (const bucket of buckets) await removeObjects(s3, bucket, '');
};
