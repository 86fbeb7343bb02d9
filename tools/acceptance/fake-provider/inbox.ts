import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** Receives, for an hour, what a service of AWS notifies, so that `npm run accept` can read it. */
export class Inbox extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, {
      // SQS's own key, with which every service may send.
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.hours(1),
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: '`npm run accept` reads and deletes its messages. What it does not read is of no further use.',
    });
  }
}
