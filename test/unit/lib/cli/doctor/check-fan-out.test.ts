import type { SQSClient } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { checkFanOut } from '../../../../../lib/cli/doctor/check-fan-out.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const sweepQueue = 'https://of-the-sweep';
const pipeQueue = 'https://of-the-pipe';

const check = async (urls: readonly string[], ApproximateNumberOfMessages = '0') => {
  const { client, sent } = stubClient<SQSClient>(() => ({ Attributes: { ApproximateNumberOfMessages } }));
  return { finding: await checkFanOut(client, urls, sweepQueue), sent };
};

test('a stack whose only queue is that of the sweep has no bus, and the check is skipped', async () => {
  const { finding, sent } = await check([sweepQueue]);
  expect(finding).toEqual({ result: 'skipped', message: 'bus: none, as fanOutToEventBus is off' });
  expect(sent).toEqual([]);
});

test('dead letters of the pipe fail', async () => {
  const { finding, sent } = await check([sweepQueue, pipeQueue], '4');
  expect(finding).toMatchObject({
    result: 'failed',
    message: 'bus: the dead-letter queue of its pipe holds 4',
  });
  expect(sent[0]?.input).toMatchObject({ QueueUrl: pipeQueue });
  expect((await check([pipeQueue, sweepQueue])).finding).toMatchObject({ result: 'passed' });
});
