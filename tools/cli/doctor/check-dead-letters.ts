import type { SQSClient } from '@aws-sdk/client-sqs';
import { countMessages } from '../aws/count-messages.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Fails unless the dead-letter queue is empty. */
export const checkDeadLetters = async (client: SQSClient, queueUrl: string): Promise<Finding> => {
  const count = await countMessages(client, queueUrl);
  if (count === 0) return passed('dead-letter queue is empty');
  return failed(
    `dead-letter queue holds ${count}`,
    'Read the log of reconcile-extraction for their time, repair the cause, then `cosecha redrive`.',
  );
};
