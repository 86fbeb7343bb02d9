import { expect, test } from 'vitest';
import { operationOf } from '../../../bench/load/operation-of.ts';

test.each([
  ['DynamoDB_20120810.UpdateItem', 'DynamoDB UpdateItem'],
  ['AWSStepFunctions.SendTaskSuccess', 'StepFunctions SendTaskSuccess'],
  ['TrentService.Decrypt', 'KMS Decrypt'],
  ['secretsmanager.GetSecretValue', 'SecretsManager GetSecretValue'],
  ['Logs_20140328.PutLogEvents', 'Logs_20140328 PutLogEvents'],
])('%s is %s', (target, operation) => {
  expect(operationOf({ method: 'POST', headers: { 'X-Amz-Target': target } })).toBe(operation);
});

test('a signed request without a target is one to S3', () => {
  const headers = { authorization: 'AWS4-HMAC-SHA256 Credential=…' };
  expect(operationOf({ method: 'PUT', headers })).toBe('S3 PUT');
});

test('a request to the provider is none to AWS', () => {
  expect(operationOf({ method: 'POST', headers: { authorization: 'Bearer token' } })).toBeUndefined();
  expect(operationOf({})).toBeUndefined();
});
