import { ExecutionDoesNotExist, SFNClient } from '@aws-sdk/client-sfn';
import { afterEach, expect, test, vi } from 'vitest';
import { keyPolicyProblems, readInput } from '../../../../../tools/acceptance/checks/check-seal-key.ts';
import type { AcceptContext } from '../../../../../tools/acceptance/checks/context.ts';

afterEach(() => vi.restoreAllMocks());

const startTask = { name: 'start-task', roleArn: 'arn:aws:iam::111122223333:role/start' };
const sweep = { name: 'sweep-extractions', roleArn: 'arn:aws:iam::111122223333:role/sweep' };
const root = 'arn:aws:iam::111122223333:root';

const forOneExtraction = {
  Null: { 'kms:EncryptionContext:extractionId': 'false', 'kms:EncryptionContext:requestId': 'false' },
};
const allow = (AWS: unknown, Action: unknown, Condition?: unknown) => ({
  ...{ Effect: 'Allow', Principal: { AWS }, Action, Resource: '*' },
  ...(Condition === undefined ? {} : { Condition }),
});

const administer = allow(root, ['kms:DescribeKey', 'kms:PutKeyPolicy']);
const unseal = allow([startTask.roleArn, sweep.roleArn], 'kms:Decrypt', forOneExtraction);

const problems = (...Statement: readonly unknown[]) =>
  keyPolicyProblems({ Statement }, [startTask, sweep], { withConditions: true });

test('a key policy that lets only the users decrypt, for a named extraction, is right', () => {
  expect(problems(administer, unseal)).toEqual([]);
});

test('a principal that may decrypt or grant it, and is no user, is named', () => {
  for (const action of ['kms:Decrypt', 'kms:*', '*', 'kms:CreateGrant', 'kms:ReEncryptFrom']) {
    expect(problems(administer, unseal, allow(root, action, forOneExtraction)), action).toEqual([
      `The policy of the seal key lets ${root} decrypt.`,
    ]);
  }
  expect(problems(unseal, { ...allow('', 'kms:Decrypt', forOneExtraction), Principal: '*' })).toEqual([
    'The policy of the seal key lets * decrypt.',
  ]);
});

test('a user that may not decrypt any more is named', () => {
  expect(problems(administer, allow(sweep.roleArn, 'kms:Decrypt', forOneExtraction))).toEqual([
    'The policy of the seal key does not let start-task decrypt.',
  ]);
});

test('a permission without a named extraction is reported, except where conditions are unknown', () => {
  const free = allow([startTask.roleArn, sweep.roleArn], 'kms:Decrypt');
  expect(problems(administer, free)).toEqual([
    'The policy of the seal key allows to decrypt without extractionId and requestId in the context.',
  ]);
  expect(keyPolicyProblems({ Statement: [free] }, [startTask, sweep], { withConditions: false })).toEqual([]);
});

test('an execution that Step Functions does not know yet is read again, and any other error is thrown', async () => {
  const unknown = new ExecutionDoesNotExist({ message: '', $metadata: {} });
  const send = vi.spyOn(SFNClient.prototype, 'send') as unknown as {
    mockRejectedValueOnce: (e: Error) => typeof send;
    mockResolvedValueOnce: (v: object) => typeof send;
  };
  const context = {
    client: { region: 'eu-west-1' },
    deployment: { output: () => 'arn:aws:states:eu-west-1:111122223333:stateMachine:m' },
    sleep: async () => {},
    waitFor: () => {},
  } as unknown as AcceptContext;
  send
    .mockRejectedValueOnce(unknown)
    .mockRejectedValueOnce(unknown)
    .mockResolvedValueOnce({ input: '{"a":1}' });
  expect(await readInput(context, 'e-1')).toEqual({ a: 1 });
  send.mockRejectedValueOnce(new Error('denied'));
  await expect(readInput(context, 'e-1')).rejects.toThrow('denied');
});
