import type { ExtractionEvent } from '@cosecha/cosecha';

/** What an extraction currently adds to the totals. */
export type Contribution = {
  /** The day of the outcome in UTC, as 2026-11-21. */
  readonly day: string;
  /** The entity, or the product for the method `consent`. */
  readonly source: string;
  readonly outcome: string;
  readonly collected: boolean;
  readonly bytes: number;
};

/** An extraction's latest contribution, and the sequence number of the change that set it. */
export type Entry = { readonly sequenceNumber: string; readonly contribution?: Contribution };

/** The totals, and the entry of every extraction that is part of them. */
export interface TotalsStore {
  getEntry(extractionId: string): Promise<Entry | undefined>;
  /**
   * Replaces the entry if it is still `before`, and moves its contribution to the new totals, in one transaction.
   * Returns false if another invocation changed the entry first.
   */
  replaceEntry(extractionId: string, before: Entry | undefined, after: Entry): Promise<boolean>;
}

/** Other invocations kept changing the same entry or total. Lambda repeats the record. */
export class EntryConflict extends Error {
  override readonly name = 'EntryConflict';
}

const TRIES = 5;

/**
 * Replaces an extraction's contribution with the one after a change. So no extraction is counted twice, a corrected
 * outcome moves from one total to another, and a reopened extraction leaves its total. So does one that is to be erased, and the
 * `settled` that may follow does not bring it back. A change that is not newer than
 * the entry is ignored: its batch was repeated, split, or replayed by hand.
 */
export const countEvent = async (store: TotalsStore, event: ExtractionEvent): Promise<void> => {
  // The totals keep outcomes whose records are gone.
  if (event.kind === 'erased' || event.kind === 'expired') return;
  const { extractionId, sequenceNumber } = event;
  const contribution = contributionOf(event.extraction);
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const before = await store.getEntry(extractionId);
    if (before !== undefined && BigInt(sequenceNumber) <= BigInt(before.sequenceNumber)) return;
    // Reopened, or to be erased, an extraction gets an entry even if it had none, because its old outcome may be replayed later.
    if (event.kind !== 'reopened' && event.kind !== 'erasing' && isSame(before?.contribution, contribution))
      return;
    const after = { sequenceNumber, ...(contribution === undefined ? {} : { contribution }) };
    if (await store.replaceEntry(extractionId, before, after)) return;
  }
  throw new EntryConflict(`The entry of ${extractionId} or its total is busy.`);
};

type Snapshot = Extract<ExtractionEvent, { kind: 'settled' }>['extraction'];

const contributionOf = (extraction: Snapshot): Contribution | undefined =>
  extraction.settledAt === undefined || extraction.erasingAt !== undefined
    ? undefined
    : {
        day: extraction.settledAt.slice(0, 10),
        source: extraction.method === 'consent' ? extraction.product : extraction.entity,
        outcome: extraction.status,
        collected: extraction.collectedAt !== undefined,
        bytes: extraction.results?.bytes ?? 0,
      };

const isSame = (one: Contribution | undefined, other: Contribution | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
