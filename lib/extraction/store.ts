import type { DueRecord, Update } from './change.ts';
import type { Extraction } from './record.ts';

export type ApplyResult =
  | { readonly applied: true; readonly record: Extraction }
  /** The condition failed. `record` is the stored record, or undefined if there is none. */
  | { readonly applied: false; readonly record: Extraction | undefined };

/**
 * The table `Extractions`. Reads are strongly consistent, except `due`. Every method may throw, also after the write took effect. So after
 * an exception, the result is unknown.
 */
export interface ExtractionStore {
  /** Writes a new record. If there is one with its id, changes nothing and returns that. */
  create(
    record: Extraction,
  ): Promise<{ readonly created: true } | { readonly created: false; readonly record: Extraction }>;
  get(extractionId: string): Promise<Extraction | undefined>;
  /** Writes a change if its condition holds. */
  apply(update: Update): Promise<ApplyResult>;
  /** Returns the records of a shard that are due at `now`, the oldest first, from after `after` on. Eventually consistent. */
  due(shard: number, now: Date, limit: number, after?: DueRecord): Promise<readonly DueRecord[]>;
}

/** An entry of the sparse index `reference` or `batch`, which contain the records whose caller gave that name. */
export type NamedEntry = {
  readonly extractionId: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
  /**
   * The number of the spelling of the name by which it was found, absent for the first. It is a number, because a name may be a person's
   * and must not get into a queue.
   */
  readonly spelling?: number | undefined;
};

export type NameQuery = {
  readonly by: 'reference' | 'batch';
  readonly name: string;
  /** Limits the entries to this caller. If absent, all callers. */
  readonly requestedBy?: string | undefined;
  /** The most entries to read. A query returns at most 1 MB, which is some thousands. */
  readonly limit: number;
  /** The entry to continue after. */
  readonly after?: NamedEntry | undefined;
};

/** Both indexes, eventually consistent. They may lack changes of the last second, and still have a record that was just erased. */
export interface NameIndex {
  /**
   * Reads the next entries, the newest first. For all callers, it reads one caller after the other. `last` is the last entry that was read,
   * and absent at the end.
   */
  find(query: NameQuery): Promise<{ readonly entries: readonly NamedEntry[]; readonly last?: NamedEntry }>;
}

export type ChangeOutcome =
  /** As `WriteResult` of `change.ts` says. */
  | { readonly kind: 'written' | 'equal'; readonly record: Extraction }
  /** Another change came first. The decision must be made again, from `record`. */
  | { readonly kind: 'lost'; readonly record: Extraction | undefined };

/** One item of the private table `Tasks`, where start-task (`link`) and the webhook (`recordStatus`) meet. */
export type Task = {
  readonly taskId: string;
  readonly extractionId?: string;
  readonly callbackToken?: string;
  /** Increases with every retry and redrive of the state StartTask. So an older token never replaces a newer one. */
  readonly callbackAttempt?: number;
  /** The first final status that a delivery brought, and when. */
  readonly taskStatus?: string;
  readonly notifiedAt?: string;
  /** The MAC of raw credentials (`credentialsMac`). */
  readonly credentialsMac?: string;
  /** The user has confirmed these credentials. */
  readonly isConfirmed?: true;
  /** The `noticedAt` of the mark that the start read. What this task shows is later than that, even if a clock differs. */
  readonly afterMark?: string;
  /** The first known final status, from a delivery or a read. Only this one shows something about the credentials. */
  readonly firstStatus?: string;
  /** When that status was known. A mark gets this time, even if its write is repeated later. */
  readonly noticedAt?: string;
  /** The mark was written. It is never written again, even if it was removed. */
  readonly isMarked?: true;
  /** Its extraction was erased. Nothing else is known of the task. */
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

/** `link` and `adopt` do not change an erased task, nor a task of another extraction. */
export interface TaskStore {
  /**
   * Links the task and stores its callback token, if the task is unlinked, or linked to the same extraction without a token, or by the same
   * or an earlier attempt. Returns the item after that, with the status that a webhook may have stored. If it is not linked, the item is of
   * another extraction, erased, or linked by a later attempt.
   */
  link(link: TaskLink): Promise<Task>;
  /**
   * Stores the final status of a delivery, unless there is one or the task is erased. It is also the `firstStatus`, unless a read showed
   * one before. Returns the item, with the link that start-task may have stored.
   */
  recordStatus(delivered: DeliveredStatus): Promise<Task>;
  /**
   * Adopts a task that start-task did not link: links it without a token, so that deliveries find the extraction. An existing link stays,
   * even to another extraction. Returns the item after that.
   */
  adopt(taskId: string, extractionId: string): Promise<Task>;
  /**
   * Stores the final status that a read showed, and when, unless one is known. Returns the item. Never creates an item, or changes an
   * erased one.
   */
  notice(taskId: string, firstStatus: string, noticedAt: string): Promise<Task | undefined>;
  /** Stores that the mark of its credentials was written. Never creates an item. */
  setMarked(taskId: string): Promise<void>;
  /** Strongly consistent. */
  get(taskId: string): Promise<Task | undefined>;
}

/** One item of the private table `Refusals`: what the bank last showed about raw credentials. */
export type RefusalMark = {
  readonly credentialsMac: string;
  /** The extractions that showed it, the last one at the end. When all of them are erased, the mark is removed. */
  readonly extractionIds: readonly string[];
  /** When the last one showed it. */
  readonly noticedAt: string;
  /**
   * False after confirmed credentials were accepted, or after an operator removed the refusal. Refusals that were noticed before then do
   * not count, even if they are written later.
   */
  readonly isRefused: boolean;
  /** In epoch seconds. Readers compare it, because TTL removes an item days later. */
  readonly expiresAt: number;
};

export interface RefusedCredentialsStore {
  /** Strongly consistent. */
  get(credentialsMac: string): Promise<RefusalMark | undefined>;
  /** Adds what one extraction showed (`mergeMarks`). Throws MarkContended if other processes changed the mark ten times meanwhile. */
  put(mark: RefusalMark): Promise<void>;
}

/** How often in an hour a key may be reused for a different request. */
export const maxMismatches = 10;

/**
 * Counts repeated requests under one idempotency key, in items of the private table `Refusals`. Each request is counted before it is
 * compared. So many requests at one time get no more tries. If a request was the same, its count is taken back. Both throw what the table
 * throws.
 */
export interface RepeatCounter {
  /**
   * Counts a request, unless `maxMismatches` are counted already. `retryAfter` is then in seconds: the end of the hour if all of them
   * differed, or soon if some are still being compared.
   */
  count(extractionId: string, now: Date): Promise<'counted' | { readonly retryAfter: number }>;
  /** Stores the result of the comparison. If the request was the same, its count is taken back. */
  compared(extractionId: string, isSame: boolean): Promise<void>;
}

/** One item of the private table `Requests`: the sealed data of one request, until they have been used. */
export type StoredRequest = {
  /** The id in the record: 128 random bits. */
  readonly requestId: string;
  readonly extractionId: string;
  /** Base64 of the KMS ciphertext. KMS decrypts it only with both ids of this item. */
  readonly sealed: string;
  /** In epoch seconds, for DynamoDB's TTL. */
  readonly expiresAt: number;
  /** Present if a late start put the item back. */
  readonly taskId?: string;
};

export interface RequestStore {
  /** Writes the item. Throws if there is an item with other sealed data. */
  put(item: StoredRequest): Promise<void>;
  /** Strongly consistent. */
  get(requestId: string): Promise<StoredRequest | undefined>;
  /** Removes the item if it exists, unless it was put back for another task. */
  remove(requestId: string, of: { readonly taskId: string | undefined } | 'any task'): Promise<void>;
  /** Moves `expiresAt` of an existing item. */
  extend(requestId: string, expiresAt: number): Promise<void>;
}

/** The answer of Step Functions to a callback token. A throttle or a 5xx is thrown, because it passes. */
export type WakeOutcome =
  | 'woken'
  /** `TaskTimedOut` or `TaskDoesNotExist`: the execution polls, or it has ended. */
  | 'gone'
  | 'invalid-token';
