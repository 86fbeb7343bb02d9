import { setTimeout as delay } from 'node:timers/promises';
import {
  DescribeStreamCommand,
  type DescribeStreamCommandOutput,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import { defined } from '../../../lib/defined.ts';

export type { StreamRecord };

/** The records of an extraction continue in a child of their shard, once the shard is closed. */
export type Shard = { readonly shardId: string; readonly parentId?: string | undefined };

/** DynamoDB Streams pushes nothing: a direct reader polls, as AWS's own consumers do. */
const POLL_EVERY_MS = 100;

/** New shards are searched for once a second. DescribeStream allows ten calls a second, which others make too. */
const roundsBetweenShards = 10;

/** Whether a call to a stream was throttled, as the calls of more than two consumers of a shard are. */
export const isThrottled = (name: string | undefined): boolean =>
  name === 'LimitExceededException' || name === 'ThrottlingException';

/** A direct reader may be the third of a shard, and reads the same page again. */
const unlessThrottled = (error: unknown): undefined => {
  if (error instanceof Error && isThrottled(error.name)) return undefined;
  throw error;
};

/**
 * Opens a table's stream at its end: once this resolves, no later record is missed. The generator yields the records, in
 * order within a shard, until `signal` aborts; then it throws `AbortError`. It reads new shards from their start.
 */
export const openStream = async (client: DynamoDBStreamsClient, StreamArn: string, signal: AbortSignal) => {
  const iterators = new Map<string, string | undefined>();
  const addShards = async (ShardIteratorType: 'LATEST' | 'TRIM_HORIZON') => {
    for (const { shardId: ShardId } of await shardsOf(client, StreamArn, signal)) {
      if (iterators.has(ShardId)) continue;
      const command = new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType });
      const { ShardIterator } = await client.send(command, { abortSignal: signal });
      iterators.set(ShardId, ShardIterator);
    }
  };
  async function* records(): AsyncGenerator<StreamRecord, void> {
    for (let round = 1; ; round += 1) {
      for (const [shardId, ShardIterator] of iterators) {
        // A closed shard that is read to its end has none.
        if (ShardIterator === undefined) continue;
        const read = await client
          .send(new GetRecordsCommand({ ShardIterator }), { abortSignal: signal })
          .catch(unlessThrottled);
        if (read === undefined) continue;
        iterators.set(shardId, read.NextShardIterator);
        yield* read.Records ?? [];
      }
      await delay(POLL_EVERY_MS, undefined, { signal });
      if (round % roundsBetweenShards === 0) await addShards('TRIM_HORIZON');
    }
  }
  await addShards('LATEST');
  return records();
};

/** The shards of a stream. A page has 100 at most; a stream has the shards of a whole day. */
export const shardsOf = async (client: DynamoDBStreamsClient, StreamArn: string, signal?: AbortSignal) => {
  const shards: Shard[] = [];
  let ExclusiveStartShardId: string | undefined;
  do {
    const { StreamDescription }: DescribeStreamCommandOutput = await client.send(
      new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId }),
      defined({ abortSignal: signal }),
    );
    shards.push(
      ...(StreamDescription?.Shards ?? []).flatMap(({ ShardId: shardId, ParentShardId: parentId }) =>
        shardId === undefined ? [] : { shardId, parentId },
      ),
    );
    ExclusiveStartShardId = StreamDescription?.LastEvaluatedShardId;
  } while (ExclusiveStartShardId !== undefined);
  return shards;
};
