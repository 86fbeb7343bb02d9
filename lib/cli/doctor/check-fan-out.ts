import type { SQSClient } from '@aws-sdk/client-sqs';
import { lettersIn } from './check-dead-letters.ts';
import { type Finding, failed, passed, skipped } from './finding.ts';

/**
 * Whether the pipe to the bus gave anything up: each message in its dead-letter queue is a batch of the stream. The
 * queue is the one of the stack's `queueUrls` that is not `ownUrl`, the sweep's.
 */
export const checkFanOut = async (
  client: SQSClient,
  queueUrls: readonly string[],
  ownUrl: string,
): Promise<Finding> => {
  const queueUrl = queueUrls.find((url) => url !== ownUrl);
  if (queueUrl === undefined) return skipped('bus: there is none, fanOutToEventBus is off');
  const count = await lettersIn(client, queueUrl);
  if (count === 0) return passed('bus: the pipe gave nothing up');
  return failed(
    `bus: the pipe gave up ${count} batches`,
    'docs/operations.md says what to do, under fan-out-dead-letters.',
  );
};
