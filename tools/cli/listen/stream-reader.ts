import type { Shard, StreamRecord } from '../aws/follow-stream.ts';

export type { Shard };

/** `after` is the sequence number of a record. */
export type StartAt = 'oldest' | 'newest' | { readonly after: string };

export type Page = {
  readonly records: readonly StreamRecord[];
  /** Undefined at the end of a closed shard. */
  readonly next: string | undefined;
};

/** Reads a stream by its shards. Every method may throw the errors below, and others that no retry repairs. */
export interface StreamReader {
  shards(): Promise<readonly Shard[]>;
  /** Returns an iterator. */
  open(shardId: string, at: StartAt): Promise<string | undefined>;
  read(iterator: string): Promise<Page>;
}

/** The stream cannot be read now. A later try may succeed. */
export class StreamUnreachable extends Error {
  override readonly name = 'StreamUnreachable';
}

/** The iterator is older than 15 minutes. A new one is as good. */
export class IteratorExpired extends Error {
  override readonly name = 'IteratorExpired';
}

/** The stream no longer has the record after which to continue, as 24 hours have passed. */
export class RecordsTrimmed extends Error {
  override readonly name = 'RecordsTrimmed';
}
