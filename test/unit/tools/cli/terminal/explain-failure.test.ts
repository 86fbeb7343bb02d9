import { expect, test } from 'vitest';
import { explainFailure } from '../../../../../tools/cli/terminal/explain-failure.ts';

const failure = (name: string, message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { name, ...more });

test('a missing permission is named with its resource', () => {
  const caller = 'arn:aws:iam::111122223333:user/op';
  const table = 'arn:aws:dynamodb:us-east-1:111122223333:table/T';
  const denied = failure(
    'AccessDeniedException',
    `User: ${caller} is not authorized to perform: dynamodb:GetItem on resource: ${table} because no identity-based policy allows the dynamodb:GetItem action`,
  );
  expect(explainFailure(denied)).toBe(
    `AWS does not allow ${caller} to dynamodb:GetItem on ${table}. That permission is missing; docs/cli.md names the policy of each command.`,
  );
});

test.each([
  [failure('AccessDenied', 'Access Denied'), 'AWS does not allow it: Access Denied'],
  [
    failure('CredentialsProviderError', 'None.'),
    'There are no AWS credentials (None). Log in, or name a profile with --profile.',
  ],
  [failure('ExpiredTokenException', 'x'), 'The AWS credentials have expired. Log in again.'],
  [
    failure('Error', 'x', { code: 'ECONNREFUSED', address: '127.0.0.1', port: 9 }),
    '127.0.0.1:9 does not answer (ECONNREFUSED).',
  ],
  [failure('Throttling', 'Slow down', { $metadata: {} }), 'AWS answered Throttling: Slow down'],
])('%s is explained in a sentence', (error, sentence) => {
  expect(explainFailure(error)).toBe(sentence);
});

test('an unexpected error is not explained', () => {
  expect(explainFailure(new TypeError('undefined is not a function'))).toBeUndefined();
});

test('credentials that a profile lacks are explained with its name', () => {
  const missing = failure('CredentialsProviderError', 'Could not load credentials from any providers');
  expect(explainFailure(missing, 'nope')).toBe(
    'There are no AWS credentials in the profile "nope". Check its name with aws configure list-profiles, and log in to it.',
  );
});
