import { stackNameOf } from '../../lib/aws/stage.ts';

/** Where a stack publishes what a reader of its stream has to know: names in the Parameter Store. */
export const streamParameters = (stage: string) => ({
  streamArn: `/${stackNameOf(stage)}/extractions-stream-arn`,
  dataKeyArn: `/${stackNameOf(stage)}/data-key-arn`,
  resultsBucketName: `/${stackNameOf(stage)}/results-bucket-name`,
});
