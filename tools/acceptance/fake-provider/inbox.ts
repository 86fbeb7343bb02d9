import { CfnOutput, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { SqsSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** Keeps messages for an hour, which is longer than any run waits for one. What is not read is lost. */
export class Inbox extends Queue {
  constructor(scope: Construct, id: string, props: Pick<QueueProps, 'visibilityTimeout'> = {}) {
    super(scope, id, {
      ...props,
      // SQS's own key, with which every service may send.
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.hours(1),
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason:
        'What no check reads is of no further use, and a webhook that is not sent is lost, as at the provider.',
    });
  }
}

/** The topic of the alarms of a stage with a fake provider, and a queue from which `npm run accept` reads what they notified. */
export class AlarmInbox extends Construct {
  readonly topicArn: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const topic = new Topic(this, 'Topic', { enforceSSL: true });
    // With a policy of its own, a topic no longer has the default one, which lets alarms of the account publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        effect: Effect.ALLOW,
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    const queue = new Inbox(this, 'Inbox');
    topic.addSubscription(new SqsSubscription(queue));
    this.topicArn = topic.topicArn;
    new CfnOutput(Stack.of(this), 'AlarmQueueUrl', {
      value: queue.queueUrl,
      description: 'The queue with what the alarms notified',
    });
  }
}
