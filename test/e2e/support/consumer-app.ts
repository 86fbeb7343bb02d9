import { App, CfnOutput, Duration } from 'aws-cdk-lib';
import type { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { TotalsStack } from '../../../examples/consumer/stack.ts';
import { outcomePatterns } from '../../../infra/constructs/stream/outcome-patterns.ts';

/** The example, adapted to what the emulator does differently from AWS with a stream's batches. */
const stack = new TotalsStack(new App(), 'local');
const mapping = stack.consumer.mapping.node.defaultChild as CfnEventSourceMapping;
// The emulator treats an answer that names a failed record as success, and loses the rest of the batch.
mapping.addPropertyOverride('BatchSize', 1);
// Only the records of the consumer's own tests: one by one, the others would take minutes.
const ownSource = { entity: { S: [{ prefix: 'bank-' }] } };
const filters = outcomePatterns.flatMap((pattern) =>
  'dynamodb' in pattern
    ? JSON.stringify({
        dynamodb: { ...pattern.dynamodb, NewImage: { ...pattern.dynamodb.NewImage, ...ownSource } },
      })
    : [],
);
mapping.addPropertyOverride(
  'FilterCriteria.Filters',
  filters.map((Pattern) => ({ Pattern })),
);
// The emulator counts no retries. It discards a failing record by age alone, so this must be longer than a busy machine
// may take for a good record. AWS allows no less than 60 s.
mapping.addPropertyOverride('MaximumRecordAgeInSeconds', 60);
// The emulator supports queues and topics as a failure destination, but no buckets.
const failures = new Queue(stack, 'FailuresOnEmulator', { retentionPeriod: Duration.days(1) });
mapping.addPropertyOverride('DestinationConfig.OnFailure.Destination', failures.queueArn);
new CfnOutput(stack, 'FailuresQueueUrl', { value: failures.queueUrl });
