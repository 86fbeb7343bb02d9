import { expect, test } from 'vitest';
import { keyPolicyProblems } from '../../../../../tools/acceptance/checks/check-seal-key.ts';

const startTask = { name: 'start-task', roleArn: 'arn:aws:iam::111122223333:role/start' };
const sweep = { name: 'sweep-extractions', roleArn: 'arn:aws:iam::111122223333:role/sweep' };
const root = 'arn:aws:iam::111122223333:root';

const forOneExtraction = { Null: { 'kms:EncryptionContext:extractionId': 'false' } };
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
    'The policy of the seal key allows to decrypt without an extractionId in the context.',
  ]);
  expect(keyPolicyProblems({ Statement: [free] }, [startTask, sweep], { withConditions: false })).toEqual([]);
});
