import { stackNameOf } from '../../lib/aws/stage.ts';

/** Names in the Parameter Store, where a stack publishes what readers of its stream need. */
export const streamParameters = (stage: string) => ({
  streamArn: `/${stackNameOf(stage)}/extractions-stream-arn`,
  dataKeyArn: `/${stackNameOf(stage)}/data-key-arn`,
  resultsBucketName: `/${stackNameOf(stage)}/results-bucket-name`,
});
