import type { ExtractionEvent } from 'cosecha';

/** What one extraction adds to the totals, as it stands. */
export type Standing = {
  /** Of the outcome, in UTC: 2026-11-21. */
  readonly day: string;
  /** The entity, or by consent the product. */
  readonly source: string;
  readonly outcome: string;
  readonly collected: boolean;
  readonly bytes: number;
};

/** What was last entered for an extraction, and by which change. */
export type Entry = { readonly sequenceNumber: string; readonly standing?: Standing };

/** The totals, and the entry of every extraction that is in them. */
export interface Books {
  entryOf(extractionId: string): Promise<Entry | undefined>;
  /**
   * In one transaction: replaces the entry, if it is still `before`, and moves the totals from the one standing to
   * the other. False where somebody else was faster.
   */
  enter(extractionId: string, before: Entry | undefined, after: Entry): Promise<boolean>;
}

/** Another invocation kept changing the same entry or total. Lambda comes again with the record. */
export class BooksBusy extends Error {
  override readonly name = 'BooksBusy';
}

const TRIES = 5;

/**
 * Enters an extraction as it stands after a change. Not "one more", but "this instead of that": so nothing is
 * counted twice, an outcome that is corrected moves from one total to the other, and one that is withdrawn leaves.
 * A change no newer than the one last entered is old news: a batch that was retried, split, or sent again by hand.
 */
export const countEvent = async (books: Books, event: ExtractionEvent): Promise<void> => {
  // The end of a record is no end of what happened: the totals stay.
  if (event.kind === 'erased' || event.kind === 'expired') return;
  const { extractionId, sequenceNumber } = event;
  const standing = standingOf(event.extraction);
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const before = await books.entryOf(extractionId);
    if (before !== undefined && BigInt(sequenceNumber) <= BigInt(before.sequenceNumber)) return;
    // An outcome that is withdrawn is entered as such even before it came: sent again by hand, it may come after.
    if (event.kind !== 'reopened' && isSame(before?.standing, standing)) return;
    const after = { sequenceNumber, ...(standing === undefined ? {} : { standing }) };
    if (await books.enter(extractionId, before, after)) return;
  }
  throw new BooksBusy(`The entry of ${extractionId} or its total is busy.`);
};

type Snapshot = Extract<ExtractionEvent, { kind: 'settled' }>['extraction'];

const standingOf = (extraction: Snapshot): Standing | undefined =>
  extraction.settledAt === undefined
    ? undefined
    : {
        day: extraction.settledAt.slice(0, 10),
        source: extraction.method === 'consent' ? extraction.product : extraction.entity,
        outcome: extraction.status,
        collected: extraction.collectedAt !== undefined,
        bytes: extraction.results?.bytes ?? 0,
      };

const isSame = (one: Standing | undefined, other: Standing | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
