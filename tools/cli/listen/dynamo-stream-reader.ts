import {
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { isThrottled, shardsOf } from '../aws/follow-stream.ts';
import { type StartAt, StreamError, type StreamReader } from './stream-reader-port.ts';

const unreachable = /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|EPIPE|EHOSTUNREACH)$/;

/** The SDK has retried by then. Errors of access, and of a stream that does not exist, are not repaired by waiting. */
const translate = (error: unknown): unknown => {
  const { name, code, $metadata } = error as {
    readonly name?: string;
    readonly code?: string;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  if (name === 'ExpiredIteratorException') return new StreamError('expired', { cause: error });
  if (name === 'TrimmedDataAccessException') return new StreamError('trimmed', { cause: error });
  const isTransient =
    isThrottled(name) ||
    name === 'TimeoutError' ||
    unreachable.test(code ?? '') ||
    ($metadata?.httpStatusCode ?? 0) >= 500;
  return isTransient ? new StreamError('unreachable', { cause: error }) : error;
};

const translated = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (error) {
    throw translate(error);
  }
};

const iteratorType = (at: StartAt) => {
  if (at === 'oldest') return { ShardIteratorType: 'TRIM_HORIZON' } as const;
  if (at === 'newest') return { ShardIteratorType: 'LATEST' } as const;
  return { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: at.after } as const;
};

export const dynamoStreamReader = (
  client: DynamoDBStreamsClient,
  StreamArn: string,
  signal: AbortSignal,
): StreamReader => ({
  shards: () => translated(shardsOf(client, StreamArn, signal)),
  open: async (ShardId, at) => {
    const command = new GetShardIteratorCommand({ StreamArn, ShardId, ...iteratorType(at) });
    return (await translated(client.send(command, { abortSignal: signal }))).ShardIterator;
  },
  read: async (ShardIterator) => {
    const command = new GetRecordsCommand({ ShardIterator });
    const { Records = [], NextShardIterator } = await translated(
      client.send(command, { abortSignal: signal }),
    );
    return { records: Records, next: NextShardIterator };
  },
});
