import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { type Finding, failed, passed } from './finding.ts';

/** How many messages a queue holds, hidden ones too. SQS counts approximately. Throws the SDK's errors. */
export const lettersIn = async (client: SQSClient, QueueUrl: string): Promise<number> => {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return (
    Number(Attributes.ApproximateNumberOfMessages ?? 0) +
    Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0)
  );
};

/** Whether the dead-letter queue is empty. */
export const checkDeadLetters = async (client: SQSClient, queueUrl: string): Promise<Finding> => {
  const count = await lettersIn(client, queueUrl);
  if (count === 0) return passed('dead-letter queue is empty');
  return failed(
    `dead-letter queue holds ${count}`,
    'Read the logs of sweep-extractions and reconcile-extraction for their time, put it right, then `cosecha redrive`.',
  );
};
