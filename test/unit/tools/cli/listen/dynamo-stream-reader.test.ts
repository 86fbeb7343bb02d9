import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { expect, test } from 'vitest';
import { dynamoStreamReader } from '../../../../../tools/cli/listen/dynamo-stream-reader.ts';
import { fail, stubClient } from '../../../../support/stub-client.ts';

const readerOf = (answer: Parameters<typeof stubClient>[0]) => {
  const { client, sent } = stubClient<DynamoDBStreamsClient>(answer);
  return { reader: dynamoStreamReader(client, 'arn', new AbortController().signal), sent };
};

test('a shard is opened at its end, at its start, or after a record', async () => {
  const { reader, sent } = readerOf(() => ({ ShardIterator: 'i' }));
  for (const at of ['newest', 'oldest', { after: '7' }] as const) await reader.open('shard-1', at);
  const shard = { StreamArn: 'arn', ShardId: 'shard-1' };
  expect(sent.map(({ input }) => input)).toEqual([
    { ...shard, ShardIteratorType: 'LATEST' },
    { ...shard, ShardIteratorType: 'TRIM_HORIZON' },
    { ...shard, ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: '7' },
  ]);
});

test.each([
  [{ name: 'ExpiredIteratorException' }, 'IteratorExpired'],
  [{ name: 'TrimmedDataAccessException' }, 'RecordsTrimmed'],
  [{ name: 'LimitExceededException' }, 'StreamUnreachable'],
  [{ name: 'InternalServerError', $metadata: { httpStatusCode: 500 } }, 'StreamUnreachable'],
  [{ name: 'Error', code: 'ECONNREFUSED' }, 'StreamUnreachable'],
  [{ name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } }, 'AccessDeniedException'],
  [{ name: 'ResourceNotFoundException', $metadata: { httpStatusCode: 400 } }, 'ResourceNotFoundException'],
])('%j is %s', async (error, name) => {
  const { reader } = readerOf(() => fail(Object.assign(new Error('any'), error)));
  await expect(reader.read('i')).rejects.toMatchObject({ name });
  await expect(reader.open('shard-1', 'oldest')).rejects.toMatchObject({ name });
  await expect(reader.shards()).rejects.toMatchObject({ name });
});
