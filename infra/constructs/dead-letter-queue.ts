import { Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { queueDefaults } from './work-queue.ts';

/** Keeps what could not be done, for 14 days. `senders` names the services that send to it. */
export class DeadLetterQueue extends Queue {
  constructor(scope: Construct, id: string, { senders }: { readonly senders: string }) {
    super(scope, id, queueDefaults);
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: `This is a dead-letter queue itself. Its senders, ${senders}, are not queues.`,
    });
  }
}
