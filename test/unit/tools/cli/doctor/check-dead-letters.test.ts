import type { SQSClient } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { checkDeadLetters } from '../../../../../tools/cli/doctor/check-dead-letters.ts';
import { stubClient } from '../../../../support/stub-client.ts';

test.each([
  ['0', '0', { result: 'passed', message: 'dead-letter queue is empty' }],
  ['1', '2', { result: 'failed', message: 'dead-letter queue holds 3' }],
])('%s visible and %s hidden dead letters', async (visible, hidden, finding) => {
  const Attributes = {
    ApproximateNumberOfMessages: visible,
    ApproximateNumberOfMessagesNotVisible: hidden,
  };
  const { client } = stubClient<SQSClient>(() => ({ Attributes }));
  expect(await checkDeadLetters(client, 'url')).toMatchObject(finding);
});
