import { App, CfnOutput, Duration } from 'aws-cdk-lib';
import type { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { TotalsStack } from '../../../examples/consumer/stack.ts';
import { outcomePatterns } from '../../../infra/constructs/outcome-patterns.ts';

/** The example as it is, but for what the emulator does otherwise than AWS with a stream's batches. */
const stack = new TotalsStack(new App(), 'local');
const mapping = stack.consumer.mapping.node.defaultChild as CfnEventSourceMapping;
// It takes an answer that names a failed record for success, and loses the rest of the batch.
mapping.addPropertyOverride('BatchSize', 1);
// One by one, so only what the consumer's own scenarios make: the others would keep it busy for minutes.
const ownSource = { entity: { S: [{ prefix: 'bank-' }] } };
const filters = outcomePatterns.map(({ dynamodb }) =>
  JSON.stringify({ dynamodb: { ...dynamodb, NewImage: { ...dynamodb.NewImage, ...ownSource } } }),
);
mapping.addPropertyOverride(
  'FilterCriteria.Filters',
  filters.map((Pattern) => ({ Pattern })),
);
// It counts no retries, and gives up by age alone; AWS takes no less than 60 s.
mapping.addPropertyOverride('MaximumRecordAgeInSeconds', 3);
// It knows queues and topics for a failure destination, and no buckets.
const failures = new Queue(stack, 'FailuresOnEmulator', { retentionPeriod: Duration.days(1) });
mapping.addPropertyOverride('DestinationConfig.OnFailure.Destination', failures.queueArn);
new CfnOutput(stack, 'FailuresQueueUrl', { value: failures.queueUrl });
