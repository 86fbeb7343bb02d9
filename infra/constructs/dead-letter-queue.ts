import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** Where something is told that could not be done, for 14 days. `senders` are not queues themselves. */
export class DeadLetterQueue extends Queue {
  constructor(scope: Construct, id: string, { senders }: { readonly senders: string }) {
    super(scope, id, {
      // SQS's own key, which every service may write under; what is written are ids and places in the stream.
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: `This is the dead-letter queue; what sends to it, ${senders}, SQS does not know of.`,
    });
  }
}
