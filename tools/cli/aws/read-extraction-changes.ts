import {
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  type GetRecordsCommandOutput,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { defined } from '../../../lib/defined.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { type StreamRecord, shardsOf } from './follow-stream.ts';

export type StreamChange = {
  readonly at: string;
  readonly before?: Extraction;
  readonly after?: Extraction;
};

/**
 * An open shard returns pages without records at its end, and some before it: "it might take multiple calls to get to a portion
 * of the shard that contains stream records" (API reference of DynamoDB Streams, GetRecords).
 */
const emptyPagesAtEnd = 10;

type Image = Parameters<typeof unmarshall>[0];

const imageOf = (image: unknown): Extraction | undefined =>
  image === undefined ? undefined : (unmarshall(image as Image) as Extraction);

const toChange = ({ dynamodb }: StreamRecord): StreamChange =>
  defined({
    at: dynamodb?.ApproximateCreationDateTime?.toISOString() ?? '',
    before: imageOf(dynamodb?.OldImage),
    after: imageOf(dynamodb?.NewImage),
  }) as StreamChange;

/**
 * All changes that a stream still holds until that time, in order for each extraction. All changes of a record are in one shard and its
 * children, so the shards are read one after the other. Throws the SDK's errors.
 */
export async function* allStreamChanges(
  client: DynamoDBStreamsClient,
  StreamArn: string,
  until: string,
): AsyncGenerator<StreamChange, void> {
  const isAfter = ({ dynamodb }: StreamRecord): boolean =>
    (dynamodb?.ApproximateCreationDateTime?.toISOString() ?? '') > until;
  for (const { shardId: ShardId } of await shardsOf(client, StreamArn)) {
    const request = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const;
    let iterator = (await client.send(new GetShardIteratorCommand(request))).ShardIterator;
    let empty = 0;
    while (iterator !== undefined && empty < emptyPagesAtEnd) {
      const page: GetRecordsCommandOutput = await client.send(
        new GetRecordsCommand({ ShardIterator: iterator }),
      );
      const records = page.Records ?? [];
      empty = records.length === 0 ? empty + 1 : 0;
      iterator = records.some(isAfter) ? undefined : page.NextShardIterator;
      yield* records.map(toChange);
    }
  }
}
