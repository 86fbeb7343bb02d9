import type { DueRecord, Update } from './change.ts';
import type { Extraction } from './record.ts';

export type ApplyResult =
  | { readonly applied: true; readonly record: Extraction }
  /** The condition did not hold. `record` is as it was, or undefined if there is none. */
  | { readonly applied: false; readonly record: Extraction | undefined };

/**
 * The table `Extractions`. Reads are strongly consistent, except `due`. Every method may throw, before or after the
 * write took effect, so callers treat an exception as "unknown".
 */
export interface ExtractionStore {
  create(
    record: Extraction,
  ): Promise<{ readonly created: true } | { readonly created: false; readonly record: Extraction }>;
  get(extractionId: string): Promise<Extraction | undefined>;
  apply(update: Update): Promise<ApplyResult>;
  /** What of one shard is due at `now`, oldest first, and after `after` if given. Eventually consistent. */
  due(shard: number, now: Date, limit: number, after?: DueRecord): Promise<readonly DueRecord[]>;
}

/** An entry of one of the sparse indexes `reference` and `batch`. Each has the records whose caller gave that name. */
export type NamedEntry = {
  readonly extractionId: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
  /** Which spelling of the name it was found by, if not by the first: a number, as a name may be a person's and go to no queue. */
  readonly spelling?: number | undefined;
};

export type NameQuery = {
  readonly by: 'reference' | 'batch';
  readonly name: string;
  /** Only the entries of this caller; without it, of all. */
  readonly requestedBy?: string | undefined;
  /** How many entries are read at most. A query reads 1 MB at most, which is some thousands. */
  readonly limit: number;
  /** The entry to continue after. */
  readonly after?: NamedEntry | undefined;
};

/** Both indexes. Eventually consistent: they may lack the last second, and still have what was just erased. */
export interface NameIndex {
  /**
   * Reads the next entries: the newest first, and of all callers, one caller after the other. `last` is the last one that was read. It
   * is absent at the end.
   */
  find(query: NameQuery): Promise<{ readonly entries: readonly NamedEntry[]; readonly last?: NamedEntry }>;
}

export type ChangeOutcome =
  /** `written` by this process. `equal`: the record has the same change, probably by another process. */
  | { readonly kind: 'written' | 'equal'; readonly record: Extraction }
  /** Another change came first. The decision has to be made again from `record`. */
  | { readonly kind: 'lost'; readonly record: Extraction | undefined };

/** One item of the private table `Tasks`, where start-task (`link`) and the webhook (`recordStatus`) meet. */
export type Task = {
  readonly taskId: string;
  readonly extractionId?: string;
  readonly callbackToken?: string;
  /**
   * Increases with every retry and redrive of the state StartTask, so that an older token never replaces a newer one.
   */
  readonly callbackAttempt?: number;
  readonly taskStatus?: string;
  readonly notifiedAt?: string;
  /** Of raw credentials (`credentialsMac`). */
  readonly credentialsMac?: string;
  /** The user has confirmed these credentials. */
  readonly isConfirmed?: true;
  /** `noticedAt` of the mark that the start read. What this task shows is later, whatever a clock says. */
  readonly afterMark?: string;
  /** The final status that was known first, by a delivery or a read. Only this one shows something about the credentials. */
  readonly firstStatus?: string;
  /** When it was known. A mark has this time, however often it is tried to be written. */
  readonly noticedAt?: string;
  /** The mark was written. It is not written again, whatever has become of it. */
  readonly isMarked?: true;
  /** Its extraction was erased, and nothing else is known of the task. */
  readonly isErased?: true;
};

export type TaskLink = {
  readonly taskId: string;
  readonly extractionId: string;
  readonly callbackToken: string;
  readonly callbackAttempt: number;
} & Pick<Task, 'credentialsMac' | 'isConfirmed' | 'afterMark'>;

export type DeliveredStatus = {
  readonly taskId: string;
  readonly taskStatus: string;
  readonly notifiedAt: string;
};

/** An erased task is nobody's any more: `link` and `adopt` leave it as it is, as they leave one of another extraction. */
export interface TaskStore {
  /**
   * Link: stores the callback token if the task is unlinked, or is linked to the same extraction without a token or by the
   * same or an older attempt. Returns the item as it then is, with the status that a webhook may have left.
   */
  link(link: TaskLink): Promise<{ readonly linked: boolean; readonly task: Task }>;
  /**
   * Stores the final status of a delivery, unless there is one or the task is erased, also as `firstStatus` unless a read showed one before.
   * Returns the item, with the link that start-task may have left.
   */
  recordStatus(delivered: DeliveredStatus): Promise<Task>;
  /**
   * Adopt: links a task that start-task did not link, without a token, so that deliveries find the extraction. An
   * existing link stays, even to another extraction. Returns the item as it then is.
   */
  adopt(taskId: string, extractionId: string): Promise<Task>;
  /**
   * Keeps the final status that a read showed, and when, unless one is known. Returns the item. A task that is not there, or is erased,
   * stays so.
   */
  notice(taskId: string, firstStatus: string, noticedAt: string): Promise<Task | undefined>;
  /** Keeps that the mark of its credentials was written. A task that is not there stays so. */
  setMarked(taskId: string): Promise<void>;
  /** Strongly consistent. */
  get(taskId: string): Promise<Task | undefined>;
}

/** One item of the private table `Refusals`: what the bank last showed about raw credentials. */
export type RefusalMark = {
  readonly credentialsMac: string;
  /** Of the extractions that showed it, the last one at the end. The mark goes when all of them are erased. */
  readonly extractionIds: readonly string[];
  /** When the last one showed it. */
  readonly noticedAt: string;
  /**
   * False once credentials that the user had confirmed were accepted, or an operator forgot the refusal. Refusals that were noticed
   * before do not count then, however late they are written.
   */
  readonly isRefused: boolean;
  /** In epoch seconds. TTL removes an item days later, so that a reader compares it. */
  readonly expiresAt: number;
};

export interface RefusedCredentialsStore {
  /** Strongly consistent. */
  get(credentialsMac: string): Promise<RefusalMark | undefined>;
  /** Adds what one extraction showed, as `mergeMarks` has it. */
  put(mark: RefusalMark): Promise<void>;
}

/** How often a key may be used again within an hour for a request that differs. */
export const maxMismatches = 10;

/**
 * Counts repeated requests under one idempotency key, in items of the private table `Refusals`. Each is counted before it is compared,
 * so that many at one time are no more tries. One that was the same is taken back.
 */
export interface RepeatCounter {
  /**
   * Counts one, unless `maxMismatches` are counted. It may then be tried again after so many seconds: at the end of the hour if all of
   * them differed, and soon if some are still compared.
   */
  count(extractionId: string, now: Date): Promise<'counted' | { readonly retryAfter: number }>;
  /** Records the result of the comparison. If the request was the same, its count is taken back. */
  compared(extractionId: string, isSame: boolean): Promise<void>;
}

/** One item of the private table `Requests`: what is sealed of one request, until it has been used. */
export type StoredRequest = {
  /** Of the record, and 128 random bits. */
  readonly requestId: string;
  readonly extractionId: string;
  /** Base64 of the KMS ciphertext. KMS decrypts it only with both ids of this item. */
  readonly sealed: string;
  /** In epoch seconds, for DynamoDB's TTL. */
  readonly expiresAt: number;
  /** Of a start that was late to write its task, and put the item back. */
  readonly taskId?: string;
};

export interface RequestStore {
  /** Writes the item. Throws if there is one with other sealed data. */
  put(item: StoredRequest): Promise<void>;
  /** Strongly consistent. */
  get(requestId: string): Promise<StoredRequest | undefined>;
  /** Removes the item, unless it was put back for another task than this. An item that is not there is removed already. */
  remove(requestId: string, of: { readonly taskId: string | undefined } | 'any task'): Promise<void>;
  /** Moves `expiresAt` of an item that is there. */
  extend(requestId: string, expiresAt: number): Promise<void>;
}

/** The answer of Step Functions to a callback token. A throttle or a 5xx, which passes, is thrown instead. */
export type WakeOutcome =
  | 'woken'
  /** `TaskTimedOut` or `TaskDoesNotExist`: the execution polls, or has ended. */
  | 'gone'
  | 'invalid-token';
