import * as v from 'valibot';
import type { Timestamp } from '../record.ts';
import type { NamedEntry } from '../store.ts';

/** A request to erase: one extraction, or all with a reference that existed when it was requested. */
export type Erasure = {
  readonly erasureId: string;
  /** ARN of the caller of the API, or of the operator. */
  readonly askedBy: string;
  readonly askedAt: Timestamp;
  readonly extractionId?: string;
  /** Removed after the last search of the index. */
  readonly reference?: string;
  /** Limits the erasure to extractions of this caller. If absent, it covers all callers. */
  readonly requestedBy?: string;
  /** When the last search ended. After it, no extraction is added. */
  readonly searchedAt?: Timestamp;
  /** In epoch seconds. Set with the request, and again with `searchedAt`. */
  readonly expiresAt?: number;
};

/**
 * The identity of a record. After an erasure, a repeated idempotency key creates another record under the same id, with another
 * `requestId`.
 */
export type ErasedRecord = { readonly extractionId: string; readonly requestId: string };

export type ErasedOne = ErasedRecord & Pick<Erasure, 'erasureId'>;

/**
 * One record of an erasure. It is written before anything is removed, and outlives the record, because a restore of the table must leave
 * the record out.
 */
export type Tombstone = ErasedOne & {
  /** When the removal began. From then on, a restore leaves the record out. */
  readonly removingAt?: Timestamp;
  /** When all was removed. */
  readonly erasedAt?: Timestamp;
  /** In epoch seconds. Set with `removingAt`. */
  readonly expiresAt?: number;
};

/** The private table `Erasures`. Every method may throw, also after it took effect. */
export interface ErasureStore {
  /** Writes a new erasure. A repetition changes nothing. */
  create(erasure: Erasure): Promise<void>;
  /** The id of the last erasure of a scope, by a MAC of caller and scope. Strongly consistent. */
  lastOf(scopeMac: string): Promise<string | undefined>;
  /** Writes a new erasure as the last one of its scope. If the last one is no longer `replaced`, writes nothing and returns false. */
  createFor(scopeMac: string, erasure: Erasure, replaced: string | undefined): Promise<boolean>;
  /** Strongly consistent. */
  get(erasureId: string): Promise<Erasure | undefined>;
  /** Stores when the last search ended, and removes the reference. */
  finishSearch(erasureId: string, searchedAt: Timestamp, expiresAt: number): Promise<void>;
  /** Writes a new tombstone. A repetition changes nothing. */
  bury(tombstone: Tombstone): Promise<void>;
  /** These two write the tombstone if there is none. */
  setRemoving(of: ErasedOne, removingAt: Timestamp, expiresAt: number): Promise<void>;
  setErased(of: ErasedOne, erasedAt: Timestamp, expiresAt: number): Promise<void>;
}

/** A message of the erase queue. It is delivered at least once, in any order. */
export type EraseMessage =
  /** Find what is to be erased. `isLast`: the index was searched before, and this is the last search. */
  | {
      readonly search: Pick<Erasure, 'erasureId'>;
      readonly isLast?: true;
      readonly after?: NamedEntry;
    }
  | { readonly erase: ErasedOne };

/** The schema is made here, so that functions that only send have no valibot in their bundles. */
export const eraseMessageSchema = () => {
  const id = v.pipe(v.string(), v.minLength(1), v.maxLength(64));
  const after = v.strictObject({
    extractionId: id,
    requestedBy: v.string(),
    requestedAt: v.string(),
    spelling: v.exactOptional(v.picklist([1, 2])),
  });
  return v.union([
    v.strictObject({
      search: v.strictObject({ erasureId: id }),
      isLast: v.exactOptional(v.literal(true)),
      after: v.exactOptional(after),
    }),
    v.strictObject({ erase: v.strictObject({ erasureId: id, extractionId: id, requestId: id }) }),
  ]);
};

/**
 * Puts a message into the erase queue, as `SendReconcile` does. `askedBy` is from its erasure.
 */
export type SendErase = (message: EraseMessage, askedBy: string, delaySeconds?: number) => Promise<void>;

const day = 86_400;

/**
 * How long a tombstone is kept after the removal, in seconds. Point-in-time recovery goes back 35 days
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html). A table that was restored on the
 * last day may be copied for a week after that.
 */
const keptSeconds = (35 + 7) * day;

export const tombstoneExpiry = (now: Date): number => Math.floor(now.getTime() / 1_000) + keptSeconds;
