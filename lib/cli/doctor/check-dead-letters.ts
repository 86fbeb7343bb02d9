import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { type Finding, right, wrong } from './finding.ts';

/** Whether the dead-letter queue is empty. SQS counts approximately. */
export const checkDeadLetters = async (client: SQSClient, QueueUrl: string): Promise<Finding> => {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  const count =
    Number(Attributes.ApproximateNumberOfMessages ?? 0) +
    Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0);
  if (count === 0) return right('dead-letter queue is empty');
  return wrong(
    `dead-letter queue holds ${count}`,
    'Read the log of reconcile-extraction for their time, put it right, then `cosecha redrive`.',
  );
};
