import { expect, test } from 'vitest';
import type { Call } from '../../../bench/ledger/entry.ts';
import { nameOfCall } from '../../../bench/ledger/name-of-call.ts';

const tables = new Map([['Cosecha-local-Extractions1A2B', { name: 'Extractions' }]]);

const nameOf = (service: string, operation: string, asked?: Call['asked']): string =>
  nameOfCall(
    {
      ...{ service, operation, startedAt: 0, endedAt: 1, statusCode: 200, answerBytes: 0 },
      ...(asked === undefined ? {} : { asked }),
    },
    tables,
  );

test.each([
  ['states', 'SendTaskSuccess', 'Step Functions SendTaskSuccess'],
  ['kms', 'Decrypt', 'KMS Decrypt'],
  ['s3', 'PUT', 'S3 PUT'],
  ['sns', 'Publish', 'sns Publish'],
])('%s %s is known as %s', (service, operation, name) => {
  expect(nameOf(service, operation)).toBe(name);
});

test('a request to DynamoDB is known by its table, or by the index that it asks', () => {
  const TableName = 'Cosecha-local-Extractions1A2B';
  expect(nameOf('dynamodb', 'GetItem', { TableName })).toBe('Extractions GetItem');
  expect(nameOf('dynamodb', 'Query', { TableName, IndexName: 'open' })).toBe('open Query');
});
