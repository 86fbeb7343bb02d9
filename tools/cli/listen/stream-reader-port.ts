import type { Shard, StreamRecord } from '../aws/follow-stream.ts';

export type { Shard };

/** `after` is the sequence number of a record. */
export type StartAt = 'oldest' | 'newest' | { readonly after: string };

export type Page = {
  readonly records: readonly StreamRecord[];
  /** Undefined at the end of a closed shard. */
  readonly next: string | undefined;
};

/** Reads a stream by its shards. Every method may throw a StreamError, and others that no retry repairs. */
export interface StreamReader {
  shards(): Promise<readonly Shard[]>;
  open(shardId: string, at: StartAt): Promise<string | undefined>;
  read(iterator: string): Promise<Page>;
}

/**
 * `unreachable`: the stream cannot be read now, and a later try may succeed. `expired`: the iterator is older than 15
 * minutes, and a new one is as good. `trimmed`: after 24 hours, the stream no longer has the record after which to continue.
 */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  readonly kind: 'unreachable' | 'expired' | 'trimmed';

  constructor(kind: StreamError['kind'], options?: ErrorOptions) {
    super(`The stream cannot be read: ${kind}.`, options);
    this.kind = kind;
  }
}
