import type { Extraction, StoredResults } from '../../../lib/extraction/record.ts';
import type { StreamChange } from '../aws/read-extraction-changes.ts';
import type { Period } from '../aws/read-log-lines.ts';

/** The settings of the deployment that rules depend on, in seconds. */
export type AuditLimits = Readonly<
  Record<'startWindow' | 'maxWait' | 'startTimeout' | 'pollEvery' | 'deadline' | 'machineSlack', number> &
    Record<'collectFor' | 'grace' | 'recordRetention' | 'sweepEvery', number>
>;

export type Logged = Readonly<Record<'extractionId' | 'at', string>> &
  Readonly<Partial<Record<'taskId' | 'caller' | 'subject', string>>>;

/** An item of `Tasks`, without the callback token. */
export type TaskFacts = {
  readonly [Name in 'extractionId' | 'taskStatus' | 'firstStatus' | 'notifiedAt' | 'credentialsMac']?: string;
} & { readonly taskId: string };

/** An item of `Requests`, without what is sealed. `expiresAt` is in epoch seconds. */
export type RequestItem = Pick<Extraction, 'extractionId' | 'requestId'> & { readonly expiresAt: number };

/**
 * A record that is to be erased, and of which nothing may be left after `erasedAt`. `askedAt` and `searchedAt`: of its erasure, while that is known.
 * `reference`: its erasure still has one.
 */
export type Tombstone = Pick<Extraction, 'extractionId' | 'requestId' | 'reference'> &
  Readonly<Partial<Record<'askedAt' | 'searchedAt' | 'removingAt' | 'erasedAt', string>>>;

/** What an item of `Refusals` says of one extraction: a mark, or a count of repeats. `expiresAt` is in epoch seconds. */
export type MarkFacts = Pick<Extraction, 'extractionId'> & {
  readonly expiresAt: number;
  readonly isRefused?: boolean;
};

/** An item of `StartLine`, without the callback token. `line`: it is in the index, and so waits to be released. */
export type PlaceFacts = Pick<Extraction, 'extractionId' | 'requestId'> & {
  readonly line?: string;
  readonly slot: string;
  readonly waitedMs: number;
};

export type StoredBytes = Pick<StoredResults, 'bytes' | 'sha256'>;

/** What an audit reads. A method throws if its source cannot be read. The rules that need it are then not checked. */
export interface AuditSources {
  /** About how many requests the log has. Undefined where nothing shows it, as on an emulator. */
  estimate(period: Period): Promise<number | undefined>;
  limits(): Promise<AuditLimits>;
  /** A line for each request that was answered, repeated ones too. */
  requested(period: Period): AsyncIterable<Logged>;
  /** A line for each start call that the provider accepted, with its task. */
  accepted(period: Period): AsyncIterable<Logged>;
  /** The ids in the index `due`. */
  due(): Promise<readonly string[]>;
  requestItems(): AsyncIterable<RequestItem>;
  /** What is being erased, and what was, as far as tombstones show it: of 42 days. */
  tombstones(): AsyncIterable<Tombstone>;
  marks(): AsyncIterable<MarkFacts>;
  line(): AsyncIterable<PlaceFacts>;
  /** The items of `Breakers` by name: the breakers of each caller, and the rate of all. */
  shared(): Promise<ReadonlyMap<string, object>>;
  /** How many objects, in every version, the bucket has of an extraction. */
  objects(extractionId: string): Promise<number>;
  /** What the stream still has until that time, in order for each extraction. */
  changes(until: string): AsyncIterable<StreamChange>;
  records(extractionIds: readonly string[]): AsyncIterable<Extraction>;
  tasks(taskIds: readonly string[]): AsyncIterable<TaskFacts>;
  /** Reads the whole object. Undefined where there is none. */
  stored(results: StoredResults): Promise<StoredBytes | undefined>;
}

export type SourceName = Exclude<keyof AuditSources, 'estimate'>;

/** `request`: who requested what, which never changes, as JSON. */
export type Image = Pick<
  Extraction,
  'requestId' | 'status' | 'settledAt' | 'taskId' | 'dueShard' | 'expiresAt'
> &
  Record<'request', string>;

/** A change of status, or of the request. A record that was just created has no `before`, and one that is gone no `after`. */
export type Step = Pick<Logged, 'extractionId' | 'at'> & { readonly before?: Image; readonly after?: Image };

/** All that was read. Rules are pure functions of it. */
export type Facts = {
  readonly now: Date;
  /** When the records began to be read, which may be minutes later. */
  readonly recordsReadAt: Date;
  readonly since: Date;
  readonly limits: AuditLimits;
  /** The requests to audit: all of the period, or those that were drawn. */
  readonly requested: readonly Logged[];
  readonly accepted: readonly Logged[];
  readonly steps: readonly Step[];
  readonly items: readonly RequestItem[];
  readonly tombstones: readonly Tombstone[];
  readonly marks: readonly MarkFacts[];
  readonly line: readonly PlaceFacts[];
  readonly shared: ReadonlyMap<string, object>;
  /** By `extractionId`, of what was erased. */
  readonly objects: ReadonlyMap<string, number>;
  readonly ids: ReadonlySet<string>;
  /** Those of the requests, of starts whose request is older, of the index `due`, and of the items of all other tables. */
  readonly records: ReadonlyMap<string, Extraction>;
  /** The ids of these, and of records that another version of Cosecha wrote. No other rule is about those. */
  readonly present: ReadonlySet<string>;
  readonly tasks: ReadonlyMap<string, TaskFacts>;
  /** By `extractionId`. Undefined: the object is gone. Absent: it was not read. */
  readonly stored: ReadonlyMap<string, StoredBytes | undefined>;
};

/** `extractionId` is empty where it is about all of them. */
export type Finding = { readonly extractionId: string; readonly what: string };

/** `notChecked`: what the rule is about, and nothing could show. `left`: the extractions whose items are left to expire. */
export type Checked = {
  readonly checked: number;
  readonly findings: readonly Finding[];
  readonly notChecked?: string | undefined;
  readonly left?: readonly string[];
};

/** One sentence that holds for every deployment, and the function that finds what contradicts it. */
export type Rule = {
  /** The same in every version, for scripts that read `audit --json`. */
  readonly id: string;
  readonly sentence: string;
  readonly needs: readonly SourceName[];
  readonly check: (facts: Facts) => Checked;
};
