import type { Extraction, StoredResults } from '../../../lib/extraction/record.ts';
import type { Period } from '../aws/read-log-lines.ts';
import type { StreamChange } from '../aws/read-stream-changes.ts';

export type { Extraction, Period, StoredResults, StreamChange };

/** The settings of the deployment that rules depend on, in seconds. */
export type AuditLimits = {
  readonly [Name in
    | 'startTimeout'
    | 'machineSlack'
    | 'collectFor'
    | 'grace'
    | 'recordRetention'
    | 'sweepEvery']: number;
};

/** What a line of a function's log is about. */
export type Logged = { readonly extractionId: string; readonly taskId?: string; readonly at: string };

/** An item of `Tasks`, without the callback token. */
export type TaskFacts = {
  readonly taskId: string;
  readonly extractionId?: string;
  readonly taskStatus?: string;
  readonly notifiedAt?: string;
};

/** An item of `Requests`, without what is sealed. `expiresAt` is in epoch seconds. */
export type RequestItem = {
  readonly requestId: string;
  readonly extractionId: string;
  readonly expiresAt: number;
};

/** The size and hash of stored bytes. */
export type StoredBytes = Pick<StoredResults, 'bytes' | 'sha256'>;

/** How much there is to read. Absent where nothing shows it, as on an emulator. */
export type Estimate = {
  readonly requests?: number;
  readonly logBytes?: number;
  readonly requestItems?: number;
};

/** What an audit reads. A method throws if its source cannot be read. The rules that need it are then not checked. */
export interface AuditSources {
  estimate(period: Period): Promise<Estimate>;
  limits(): Promise<AuditLimits>;
  /** A line for each request that was answered, repeated ones too. */
  requested(period: Period): AsyncIterable<Logged>;
  /** A line for each start call that the provider accepted, with its task. */
  accepted(period: Period): AsyncIterable<Logged>;
  /** The ids in the index `due`. */
  due(): Promise<readonly string[]>;
  requestItems(): Promise<readonly RequestItem[]>;
  /** What the stream still has until that time, in order for each extraction. */
  changes(until: string): AsyncIterable<StreamChange>;
  records(extractionIds: readonly string[]): Promise<readonly Extraction[]>;
  tasks(taskIds: readonly string[]): Promise<readonly TaskFacts[]>;
  /** Reads the whole object. Undefined where there is none. */
  stored(results: StoredResults): Promise<StoredBytes | undefined>;
}

export type SourceName = keyof AuditSources;
