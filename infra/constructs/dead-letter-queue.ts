import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** Keeps what could not be done, for 14 days. `senders` names the services that send to it. */
export class DeadLetterQueue extends Queue {
  constructor(scope: Construct, id: string, { senders }: { readonly senders: string }) {
    super(scope, id, {
      // SQS's own key, with which every service may send. Messages hold ids and positions in the stream, no data.
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: `This is a dead-letter queue itself. Its senders, ${senders}, are not queues.`,
    });
  }
}
