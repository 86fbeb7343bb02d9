import type { Extraction } from './record.ts';
import type { ExtractionStore } from './store.ts';
import type { Change } from './transitions.ts';

export type ChangeOutcome =
  /** The row has the change. `mine` is false if another process wrote the same. */
  | { readonly kind: 'done'; readonly record: Extraction; readonly mine: boolean }
  /** Another change came first. The decision has to be made again from `record`. */
  | { readonly kind: 'lost'; readonly record: Extraction | undefined };

/**
 * Whether the row that refused a change already has it. The SDK repeats an update whose answer was lost, and the
 * repetition then fails its own condition (design, section 3).
 */
const holdsAlready = ({ set, when }: Change, row: Extraction): boolean => {
  // A plain TIMED_OUT of another process does not record that the answer was over the size limit.
  if (set.oversizedAt !== undefined && row.oversizedAt === undefined) return false;
  // Only the attempt that received a taskId ever writes it.
  if (set.taskId !== undefined) return row.taskId === set.taskId;
  // Only the caller knows its attemptId. A start that was settled as stale meanwhile must not make its start call.
  if (set.attemptId !== undefined) return row.attemptId === set.attemptId && row.status === set.status;
  if (set.status === 'REQUESTED') return row.status === 'REQUESTED';
  if (set.status !== undefined) {
    return row.status === set.status && (when.attemptId === undefined || row.attemptId === when.attemptId);
  }
  if (set.collectedAt !== undefined) return row.collectedAt !== undefined;
  if (set.collectionError !== undefined) return row.collectionError === set.collectionError;
  if (set.oversizedAt !== undefined) return row.oversizedAt !== undefined;
  if (set.dueAt !== undefined) return row.dueAt === set.dueAt;
  if (set.notBefore !== undefined) return row.notBefore === set.notBefore;
  return row.dueShard === undefined;
};

/** The attributes in which equal changes of two processes differ: times in milliseconds, `expiresAt` in seconds. */
const stamps = ['settledAt', 'settledBy', 'collectedAt', 'expiresAt'] as const;

const hasSameStamps = ({ set }: Change, row: Extraction): boolean =>
  stamps.every((stamp) => set[stamp] === undefined || row[stamp] === set[stamp]);

/**
 * Writes a change. Distinguishes a lost race from an own write that succeeded without an answer. Throws what the store
 * throws.
 */
export const applyChange = async (store: ExtractionStore, change: Change): Promise<ChangeOutcome> => {
  const result = await store.apply(change);
  if (result.applied) return { kind: 'done', record: result.record, mine: true };
  if (result.record !== undefined && holdsAlready(change, result.record)) {
    return { kind: 'done', record: result.record, mine: hasSameStamps(change, result.record) };
  }
  return { kind: 'lost', record: result.record };
};
