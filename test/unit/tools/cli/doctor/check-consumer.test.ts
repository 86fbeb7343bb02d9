import type { LambdaClient } from '@aws-sdk/client-lambda';
import { expect, test } from 'vitest';
import { checkConsumer } from '../../../../../tools/cli/doctor/check-consumer.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const mapping = {
  UUID: 'u-1',
  EventSourceArn: 'arn:aws:sqs:eu-west-1:111122223333:reconcile',
  State: 'Enabled',
  ScalingConfig: { MaximumConcurrency: 50 },
};
const other = { ...mapping, UUID: 'u-2', EventSourceArn: 'arn:aws:sqs:eu-west-1:111122223333:other' };

const check = async (...EventSourceMappings: readonly object[]) => {
  const { client, sent } = stubClient<LambdaClient>(() => ({ EventSourceMappings }));
  const finding = await checkConsumer(client, {
    functionName: 'reconcile-extraction',
    queueUrl: 'https://sqs.eu-west-1.amazonaws.com/111122223333/reconcile',
    concurrency: '50',
  });
  expect(sent).toMatchObject([{ input: { FunctionName: 'reconcile-extraction' } }]);
  return finding;
};

test('a mapping as deployed passes', async () => {
  expect(await check(other, mapping)).toEqual({
    result: 'passed',
    message: 'reconcile queue has its consumer, at most 50 at once',
  });
});

test.each([[[]], [[other]]])('without a mapping of this queue it fails: %j', async (mappings) => {
  expect(await check(...mappings)).toMatchObject({
    result: 'failed',
    message: 'nothing receives from the reconcile queue: its event source mapping is missing',
  });
});

test.each(['Disabled', 'Disabling'])(
  'a mapping that is %s fails, with the command that enables it',
  async (State) => {
    expect(await check({ ...mapping, State })).toEqual({
      result: 'failed',
      message: `reconcile queue: its event source mapping is ${State}`,
      remedy:
        'Results are not collected, and nothing is polled by consent. Run aws lambda update-event-source-mapping --uuid u-1 --enabled',
    });
  },
);

test.each([
  [{ MaximumConcurrency: 2 }, '2'],
  [undefined, 'unlimited'],
])('another concurrency than the setting fails: %j', async (ScalingConfig, shown) => {
  expect(await check({ ...mapping, ScalingConfig })).toEqual({
    result: 'failed',
    message: `reconcile queue: at most ${shown} consumers at once, where reconcileConcurrency is 50`,
    remedy:
      'It was changed outside the stack. Run aws lambda update-event-source-mapping --uuid u-1 --scaling-config MaximumConcurrency=50',
  });
});
