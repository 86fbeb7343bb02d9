import type { StreamRecord } from '#tools/cli/aws/follow-stream.ts';
import { type Shard, StreamError, type StreamReader } from '#tools/cli/listen/stream-reader-port.ts';

type FakeShard = Shard & { readonly records: StreamRecord[]; closed: boolean };

const pageSize = 7;

/**
 * A stream of DynamoDB in memory. Extractions are spread over the open shards, which can split as those of DynamoDB do. The
 * records of an extraction continue in a child of their shard.
 */
export const fakeStream = () => {
  const shards: FakeShard[] = [{ shardId: 'shard-0', records: [], closed: false }];
  let sequence = 1_000;
  /** Iterators of an earlier generation have expired. */
  let generation = 1;

  const shardOf = (extractionId: string): FakeShard => {
    const open = shards.filter(({ closed }) => !closed);
    return open[Number(extractionId.split('-')[1]) % open.length] as FakeShard;
  };

  const append = (extractionId: string, at = new Date()): StreamRecord => {
    sequence += 1;
    const record = {
      eventID: `event-${sequence}`,
      eventName: 'MODIFY',
      dynamodb: {
        Keys: { extractionId: { S: extractionId } },
        SequenceNumber: String(sequence),
        ApproximateCreationDateTime: new Date(Math.floor(at.getTime() / 1_000) * 1_000),
      },
    } as const;
    shardOf(extractionId).records.push(record);
    return record;
  };

  /** Closes every open shard. Two children of the first follow, so that any extraction has a child of its shard. */
  const split = (): void => {
    const open = shards.filter(({ closed }) => !closed);
    for (const shard of open) shard.closed = true;
    const children = open.length === 1 ? ['a', 'b'] : ['a'];
    for (const { shardId: parentId } of open) {
      for (const child of children) {
        shards.push({ shardId: `${parentId}${child}`, parentId, records: [], closed: false });
      }
    }
  };

  const find = (shardId: string): FakeShard => {
    const shard = shards.find((one) => one.shardId === shardId);
    if (shard === undefined) throw new Error(`There is no ${shardId}.`);
    return shard;
  };

  const reader: StreamReader = {
    // Children first: a reader must not rely on the order of the list.
    shards: async () => shards.map(({ shardId, parentId }) => ({ shardId, parentId })).reverse(),
    open: async (shardId, at) => {
      const { records } = find(shardId);
      if (at === 'oldest') return `${shardId}/0/${generation}`;
      if (at === 'newest') return `${shardId}/${records.length}/${generation}`;
      const index = records.findIndex(({ dynamodb }) => dynamodb?.SequenceNumber === at.after);
      if (index === -1) throw new StreamError('trimmed');
      return `${shardId}/${index + 1}/${generation}`;
    },
    read: async (iterator) => {
      const [shardId = '', from = '', opened = ''] = iterator.split('/');
      if (Number(opened) < generation) throw new StreamError('expired');
      const { records, closed } = find(shardId);
      const page = records.slice(Number(from), Number(from) + pageSize);
      const next = Number(from) + page.length;
      const isRead = closed && next === records.length;
      return { records: page, next: isRead ? undefined : `${shardId}/${next}/${opened}` };
    },
  };
  const expire = (): void => {
    generation += 1;
  };
  return { append, split, expire, reader };
};
