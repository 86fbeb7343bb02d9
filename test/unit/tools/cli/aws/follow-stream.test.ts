import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { expect, test } from 'vitest';
import { openStream } from '../../../../../tools/cli/aws/follow-stream.ts';
import { stubClient } from '../../../../support/stub-client.ts';

test('a page whose read is throttled is read again', async () => {
  let reads = 0;
  const { client } = stubClient<DynamoDBStreamsClient>(({ constructor: { name } }) => {
    if (name === 'DescribeStreamCommand') return { StreamDescription: { Shards: [{ ShardId: 'shard' }] } };
    if (name === 'GetShardIteratorCommand') return { ShardIterator: 'iterator' };
    reads += 1;
    if (reads > 1) return { Records: [{ eventID: 'read' }] };
    throw Object.assign(new Error('Too many readers'), { name: 'LimitExceededException' });
  });
  const records = await openStream(client, 'arn', new AbortController().signal);
  expect((await records.next()).value?.eventID).toBe('read');
});

// DescribeStream returns at most 100 shards, and a busy table has more.
test('every shard of a stream is read, including those of a second page', async () => {
  const { client } = stubClient<DynamoDBStreamsClient>(({ constructor: { name }, input }) => {
    if (name === 'DescribeStreamCommand') {
      const shards =
        input.ExclusiveStartShardId === undefined
          ? { Shards: [{ ShardId: 'shard-1' }], LastEvaluatedShardId: 'shard-1' }
          : { Shards: [{ ShardId: 'shard-2' }] };
      return { StreamDescription: shards };
    }
    if (name === 'GetShardIteratorCommand') return { ShardIterator: `in ${String(input.ShardId)}` };
    return { Records: [{ eventID: input.ShardIterator }] };
  });
  const abort = new AbortController();
  const records = await openStream(client, 'arn', abort.signal);
  const ids = [(await records.next()).value?.eventID, (await records.next()).value?.eventID];
  abort.abort();
  await expect(records.next()).rejects.toThrow();
  expect(ids).toEqual(['in shard-1', 'in shard-2']);
});
