import { ExecutionAlreadyExists, type SFNClient } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { startExecutionOf } from '../../../../lib/aws/start-execution.ts';
import { fail, stubClient } from './stub-client.ts';

const input = {
  extractionId: 'extraction-1',
  requestId: 'request-1',
  request: { entity: 'bank', actions: [{ id: 'tef' }] },
  sealedCredentials: 'c2VhbGVk',
};

test('the execution is named after the extraction and gets the whole input', async () => {
  const { client, sent } = stubClient<SFNClient>(() => ({}));
  await startExecutionOf(client, 'arn:machine')(input);
  const [command] = sent;
  expect(command?.input).toMatchObject({ stateMachineArn: 'arn:machine', name: 'extraction-1' });
  expect(JSON.parse(String(command?.input.input))).toEqual(input);
});

test('an execution of that name which exists already is success', async () => {
  const exists = new ExecutionAlreadyExists({ message: 'exists', $metadata: {} });
  await startExecutionOf(stubClient<SFNClient>(() => fail(exists)).client, 'arn:machine')(input);
});

test('any other failure is thrown, so that the caller tries again', async () => {
  const error = new Error('ExecutionLimitExceeded');
  const start = startExecutionOf(stubClient<SFNClient>(() => fail(error)).client, 'arn:machine');
  await expect(start(input)).rejects.toBe(error);
});
