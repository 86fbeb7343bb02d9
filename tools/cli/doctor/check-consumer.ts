import { type LambdaClient, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import { queueNameOf } from '../aws/read-queue.ts';
import { type Finding, failed, passed } from './finding.ts';

type Consumer = {
  readonly functionName: string;
  readonly queueUrl: string;
  /** The setting reconcileConcurrency, as it was deployed. */
  readonly concurrency: string;
};

/** A queue has the same name at the end of its URL and of its ARN. */
const isOf = (queueUrl: string, arn = ''): boolean => arn.split(':').at(-1) === queueNameOf(queueUrl);

const effect = 'Results are not collected, and nothing is polled by consent.';

const update = (uuid: string, option: string): string =>
  `Run aws lambda update-event-source-mapping --uuid ${uuid} ${option}`;

/** Fails where Lambda does not receive from the reconcile queue: its event source mapping is missing, off or changed. */
export const checkConsumer = async (
  client: LambdaClient,
  { functionName, queueUrl, concurrency }: Consumer,
): Promise<Finding> => {
  const { EventSourceMappings = [] } = await client.send(
    new ListEventSourceMappingsCommand({ FunctionName: functionName }),
  );
  const mapping = EventSourceMappings.find(({ EventSourceArn }) => isOf(queueUrl, EventSourceArn));
  if (mapping === undefined) {
    return failed(
      'nothing receives from the reconcile queue: its event source mapping is missing',
      `${effect} Run aws lambda create-event-source-mapping --function-name ${functionName} --event-source-arn <ARN of the queue> --batch-size 1 --function-response-types ReportBatchItemFailures --scaling-config MaximumConcurrency=${concurrency}`,
    );
  }
  const { UUID = '', State = '', ScalingConfig } = mapping;
  if (/^Disabl/.test(State)) {
    return failed(
      `reconcile queue: its event source mapping is ${State}`,
      `${effect} ${update(UUID, '--enabled')}`,
    );
  }
  const most = String(ScalingConfig?.MaximumConcurrency ?? 'unlimited');
  if (most !== concurrency) {
    return failed(
      `reconcile queue: at most ${most} consumers at once, where reconcileConcurrency is ${concurrency}`,
      `It was changed outside the stack. ${update(UUID, `--scaling-config MaximumConcurrency=${concurrency}`)}`,
    );
  }
  return passed(`reconcile queue has its consumer, at most ${concurrency} at once`);
};
