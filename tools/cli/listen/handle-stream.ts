import type { StreamRecord } from '../aws/follow-stream.ts';
import { type Shard, StreamError, type StreamReader } from './stream-reader-port.ts';

/** Of a shard that was read to its end, in place of a sequence number. */
const END = 'end';

/** How far a stream has been handled. It is saved after each record, so that a later run continues after it. */
export type Progress = {
  /** Records from before this ISO 8601 time are skipped. */
  readonly since: string;
  /** For each shard, the sequence number of the last record handled, or `end`. */
  readonly positions: Readonly<Record<string, string>>;
};

export type HandleStreamDeps = {
  readonly reader: StreamReader;
  /** Handles one record. False if it was interrupted: then the record counts as not handled. */
  readonly handle: (record: StreamRecord) => Promise<boolean>;
  readonly save: (progress: Progress) => Promise<void>;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Called once, when no later record can be missed. */
  readonly onReady: () => void;
  readonly onUnreachable: () => void;
  /** Records may be lost, as the stream no longer has those after the last one handled. */
  readonly onTrimmed: () => void;
  readonly signal: AbortSignal;
};

export type HandleStreamOptions = {
  /** Whether to start at the end of the stream, and not at its oldest record after `since`. */
  readonly atNewest?: boolean;
  /** Ends once all records from before this time are read; without it, at the signal. */
  readonly endsAt?: Date;
};

/** DynamoDB Streams pushes nothing: a direct reader polls, as AWS's own consumers do. */
const pollEveryMs = 100;

const retryAfterMs = 2_000;

/** A round takes a tenth of a second, and a stream that has records returns some within a few rounds. */
const roundsUntilRead = 20;

/**
 * Handles every record of a stream, one after the other, and each shard only after its parent. The records of an extraction are
 * therefore handled in the order of its changes. A record is handled again if the process ends before its progress is saved.
 */
export const handleStream = async (
  start: Progress,
  { atNewest = false, endsAt }: HandleStreamOptions,
  deps: HandleStreamDeps,
): Promise<void> => {
  const run: Run = {
    since: start.since,
    positions: new Map(Object.entries(start.positions)),
    iterators: new Map(),
    ...deps,
  };
  let isFirst = true;
  let roundsWithoutOld = 0;
  while ((endsAt === undefined || roundsWithoutOld < roundsUntilRead) && !deps.signal.aborted) {
    try {
      await openShards(run, atNewest && isFirst);
      if (isFirst) deps.onReady();
      isFirst = false;
      const { isIdle, oldest } = await readRound(run);
      // A busy stream always has newer ones.
      const hasOld = oldest === undefined ? !isIdle : oldest < (endsAt?.getTime() ?? 0);
      roundsWithoutOld = hasOld ? 0 : roundsWithoutOld + 1;
      if (isIdle) await deps.sleep(pollEveryMs, deps.signal);
    } catch (error) {
      // Every iterator is opened again, after the last record handled.
      run.iterators.clear();
      await recover(error, deps);
    }
  }
};

type Run = HandleStreamDeps & {
  readonly since: string;
  readonly positions: Map<string, string>;
  readonly iterators: Map<string, string>;
};

const recover = async (error: unknown, { onTrimmed, onUnreachable, sleep, signal }: HandleStreamDeps) => {
  if (!(error instanceof StreamError)) throw error;
  if (error.kind === 'expired') return;
  if (error.kind === 'trimmed') return onTrimmed();
  onUnreachable();
  await sleep(retryAfterMs, signal);
};

const saveProgress = ({ save, since, positions }: Run): Promise<void> =>
  save({ since, positions: Object.fromEntries(positions) });

/** Opens each shard that is due, or at the newest record every shard that there is. */
const openShards = async (run: Run, atNewest: boolean): Promise<void> => {
  const { positions, iterators } = run;
  const shards = await run.reader.shards();
  // The stream forgets shards after 24 hours.
  for (const [shardId, position] of [...positions]) {
    if (shards.some((shard) => shard.shardId === shardId)) continue;
    positions.delete(shardId);
    if (position !== END) run.onTrimmed();
  }
  for (const shard of shards) {
    if (iterators.has(shard.shardId) || !(atNewest || isDue(shard, shards, positions))) continue;
    await openShard(shard.shardId, atNewest, run);
  }
};

const isDue = (
  { shardId, parentId }: Shard,
  shards: readonly Shard[],
  positions: ReadonlyMap<string, string>,
): boolean => {
  if (positions.get(shardId) === END) return false;
  const hasParent = shards.some((shard) => shard.shardId === parentId);
  return !hasParent || positions.get(parentId ?? '') === END;
};

const openShard = async (shardId: string, atNewest: boolean, { reader, positions, iterators }: Run) => {
  const after = positions.get(shardId);
  const first = atNewest ? 'newest' : 'oldest';
  try {
    const iterator = await reader.open(shardId, after === undefined ? first : { after });
    if (iterator !== undefined) iterators.set(shardId, iterator);
  } catch (error) {
    // The next try starts at the oldest record that is left.
    if (error instanceof StreamError && error.kind === 'trimmed') positions.delete(shardId);
    throw error;
  }
};

/** `isIdle`: there was no record, and no shard ended. `oldest`: the time of the oldest record, in milliseconds. */
type Round = { readonly isIdle: boolean; readonly oldest: number | undefined };

const readRound = async (run: Run): Promise<Round> => {
  const { reader, positions, iterators } = run;
  let isIdle = true;
  let oldest: number | undefined;
  for (const [shardId, iterator] of [...iterators]) {
    const { records, next } = await reader.read(iterator);
    for (const record of records) {
      isIdle = false;
      const at = record.dynamodb?.ApproximateCreationDateTime?.getTime() ?? 0;
      oldest = Math.min(oldest ?? at, at);
      if (!(await handleRecord(shardId, record, run))) return { isIdle, oldest };
    }
    if (next !== undefined) {
      iterators.set(shardId, next);
      continue;
    }
    // Its children are due now.
    isIdle = false;
    iterators.delete(shardId);
    positions.set(shardId, END);
    await saveProgress(run);
  }
  return { isIdle, oldest };
};

/** False if it was interrupted. */
const handleRecord = async (shardId: string, record: StreamRecord, run: Run): Promise<boolean> => {
  if (run.signal.aborted) return false;
  const { SequenceNumber = '', ApproximateCreationDateTime: at } = record.dynamodb ?? {};
  // Stream records have whole seconds.
  const from = Math.floor(Date.parse(run.since) / 1_000) * 1_000;
  const isOld = at !== undefined && at.getTime() < from;
  if (!isOld && !(await run.handle(record))) return false;
  run.positions.set(shardId, SequenceNumber);
  if (!isOld) await saveProgress(run);
  return true;
};
