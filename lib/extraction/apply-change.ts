import type { Extraction } from './record.ts';
import type { ExtractionStore } from './store.ts';
import type { Change } from './transitions.ts';

export type ChangeOutcome =
  /** `mine`: this very change made the row so, and not somebody else's that says the same. */
  | { readonly kind: 'done'; readonly record: Extraction; readonly mine: boolean }
  /** Somebody else moved first. The decision has to be made again from `record`. */
  | { readonly kind: 'lost'; readonly record: Extraction | undefined };

/**
 * Whether the row that refused a change shows that this very change had been written: an update whose answer
 * was lost is sent again by the SDK and then fails its own condition (design, section 3).
 */
const holdsAlready = ({ set, when }: Change, row: Extraction): boolean => {
  // A plain TIMED_OUT of somebody else's does not remember that the answer was over the cap.
  if (set.oversizedAt !== undefined && row.oversizedAt === undefined) return false;
  // Only the attempt that was given a taskId ever writes it.
  if (set.taskId !== undefined) return row.taskId === set.taskId;
  // Only I know my attemptId; but a STARTING write that was since declared dead must not lead to a POST.
  if (set.attemptId !== undefined) return row.attemptId === set.attemptId && row.status === set.status;
  if (set.status === 'REQUESTED') return row.status === 'REQUESTED';
  if (set.status !== undefined) {
    return row.status === set.status && (when.attemptId === undefined || row.attemptId === when.attemptId);
  }
  if (set.collectedAt !== undefined) return row.collectedAt !== undefined;
  if (set.collectionError !== undefined) return row.collectionError === set.collectionError;
  if (set.oversizedAt !== undefined) return row.oversizedAt !== undefined;
  if (set.dueAt !== undefined) return row.dueAt === set.dueAt;
  return row.dueShard === undefined;
};

/** What tells a write from the same one by somebody else. Times have milliseconds, but for `expiresAt`. */
const stamps = ['settledAt', 'settledBy', 'collectedAt', 'expiresAt'] as const;

const bearsItsStamps = ({ set }: Change, row: Extraction): boolean =>
  stamps.every((stamp) => set[stamp] === undefined || row[stamp] === set[stamp]);

/** Writes a change, and tells a lost race from a write of my own that had succeeded unheard. */
export const applyChange = async (store: ExtractionStore, change: Change): Promise<ChangeOutcome> => {
  const result = await store.apply(change);
  if (result.applied) return { kind: 'done', record: result.record, mine: true };
  if (result.record !== undefined && holdsAlready(change, result.record)) {
    return { kind: 'done', record: result.record, mine: bearsItsStamps(change, result.record) };
  }
  return { kind: 'lost', record: result.record };
};
