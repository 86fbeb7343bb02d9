import type { SQSClient } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { checkFanOut } from '../../../../../tools/cli/doctor/check-fan-out.ts';
import { stubClient } from '../../../../support/stub-client.ts';

const reconcileQueue = 'https://of-reconciles';
const deadLetters = 'https://of-dead-letters';
const others = [reconcileQueue, deadLetters];
const pipeQueue = 'https://of-the-pipe';

const check = async (urls: readonly string[], ApproximateNumberOfMessages = '0') => {
  const { client, sent } = stubClient<SQSClient>(() => ({ Attributes: { ApproximateNumberOfMessages } }));
  return { finding: await checkFanOut(client, urls, others), sent };
};

test('a stack whose only queues are those of reconciles has no bus, and the check is skipped', async () => {
  const { finding, sent } = await check(others);
  expect(finding).toEqual({ result: 'skipped', message: 'bus: none, as fanOutToEventBus is off' });
  expect(sent).toEqual([]);
});

test('dead letters of the pipe fail', async () => {
  const { finding, sent } = await check([...others, pipeQueue], '4');
  expect(finding).toMatchObject({
    result: 'failed',
    message: 'bus: the dead-letter queue of its pipe holds 4',
  });
  expect(sent[0]?.input).toMatchObject({ QueueUrl: pipeQueue });
  expect((await check([pipeQueue, ...others])).finding).toMatchObject({ result: 'passed' });
});
