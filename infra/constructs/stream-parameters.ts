/** Where a stack publishes what a reader of its stream has to know: names in the Parameter Store. */
export const streamParameters = (stage: string) => ({
  streamArn: `/Cosecha-${stage}/extractions-stream-arn`,
  dataKeyArn: `/Cosecha-${stage}/data-key-arn`,
  resultsBucketName: `/Cosecha-${stage}/results-bucket-name`,
});
