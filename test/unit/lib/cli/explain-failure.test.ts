import { expect, test } from 'vitest';
import { explainFailure } from '../../../../lib/cli/explain-failure.ts';

const failure = (name: string, message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { name, ...more });

test('a missing right is named, with what it is missing on', () => {
  const who = 'arn:aws:iam::111122223333:user/op';
  const table = 'arn:aws:dynamodb:us-east-1:111122223333:table/T';
  const denied = failure(
    'AccessDeniedException',
    `User: ${who} is not authorized to perform: dynamodb:GetItem on resource: ${table} because no identity-based policy allows the dynamodb:GetItem action`,
  );
  expect(explainFailure(denied)).toBe(
    `AWS does not allow ${who} to dynamodb:GetItem on ${table}: that right is missing (docs/cli.md lists them by command).`,
  );
});

test.each([
  [failure('AccessDenied', 'Access Denied'), 'AWS does not allow it: Access Denied'],
  [
    failure('CredentialsProviderError', 'None.'),
    'There are no AWS credentials (None): log in, or name a profile with --profile.',
  ],
  [failure('ExpiredTokenException', 'x'), 'The AWS credentials have expired: log in again.'],
  [failure('Error', 'Region is missing'), 'Which region? Say --region <region>, or set AWS_REGION.'],
  [
    failure('Error', 'x', { code: 'ECONNREFUSED', address: '127.0.0.1', port: 9 }),
    '127.0.0.1:9 does not answer (ECONNREFUSED).',
  ],
  [failure('Throttling', 'Slow down', { $metadata: {} }), 'AWS answered Throttling: Slow down'],
])('%s is a sentence', (error, sentence) => {
  expect(explainFailure(error)).toBe(sentence);
});

test('a bug of ours is none that could be expected', () => {
  expect(explainFailure(new TypeError('undefined is not a function'))).toBeUndefined();
});
