import type { SQSClient } from '@aws-sdk/client-sqs';
import { countMessages } from '../aws/count-messages.ts';
import { type Finding, failed, passed, skipped } from './finding.ts';

/**
 * Fails where the pipe to the bus has dead letters. Each is a batch of the stream. The pipe's queue is the one of the
 * stack's `queueUrls` that is none of `others`.
 */
export const checkFanOut = async (
  client: SQSClient,
  queueUrls: readonly string[],
  others: readonly string[],
): Promise<Finding> => {
  const queueUrl = queueUrls.find((url) => !others.includes(url));
  if (queueUrl === undefined) return skipped('bus: none, as fanOutToEventBus is off');
  const count = await countMessages(client, queueUrl);
  if (count === 0) return passed('bus: the dead-letter queue of its pipe is empty');
  return failed(
    `bus: the dead-letter queue of its pipe holds ${count}`,
    'Follow the entry fan-out-dead-letters of docs/operations.md.',
  );
};
