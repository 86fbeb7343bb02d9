import { App, CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Queue } from 'aws-cdk-lib/aws-sqs';

const app = new App();
const stack = new Stack(app, 'Outcomes');
const bus = EventBus.fromEventBusName(stack, 'Bus', app.node.getContext('eventBusName'));
const deadLetters = new Queue(stack, 'DeadLetters', { retentionPeriod: Duration.days(14) });
const queue = new Queue(stack, 'Queue', {
  retentionPeriod: Duration.days(4),
  // Longer than the container takes for a message.
  visibilityTimeout: Duration.minutes(5),
  deadLetterQueue: { queue: deadLetters, maxReceiveCount: 5 },
});
// The target adds the policy of both queues, which lets this rule alone send to them.
new Rule(stack, 'Rule', {
  eventBus: bus,
  eventPattern: { source: ['cosecha'] },
  targets: [new SqsQueue(queue, { deadLetterQueue: deadLetters })],
});
deadLetters.metricApproximateNumberOfMessagesVisible().createAlarm(stack, 'Abandoned', {
  threshold: 1,
  evaluationPeriods: 1,
  alarmDescription: 'An outcome failed in the container five times, or did not reach the queue.',
});
new CfnOutput(stack, 'QueueUrl', { value: queue.queueUrl });
new CfnOutput(stack, 'DeadLettersUrl', { value: deadLetters.queueUrl });
