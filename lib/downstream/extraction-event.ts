import type { Extraction, ExtractionStatus } from '../extraction/record.ts';
import type { Open } from '../provider/vocabulary.ts';

/** Where an extraction stands. New values may appear at any time: have a default branch. */
export type Status = Open<ExtractionStatus>;

type Distribute<T> = T extends unknown ? Omit<T, 'status'> & { readonly status: Status } : never;

/**
 * The record as the change left it (docs/stream.md has every attribute). Times are ISO 8601 text in UTC with
 * milliseconds, and left as text: they sort, go through JSON unharmed, and `new Date(text)` is there for whoever
 * calculates. Attributes that this version does not know are there too, unnamed by the type.
 */
export type ExtractionSnapshot = Distribute<Extraction>;

type Told = {
  readonly extractionId: string;
  /** The stream's id of this change, the same however often the record is delivered. */
  readonly eventId: string;
  /** Orders the changes of one extraction: compare as `BigInt`, as it has more digits than a number holds. */
  readonly sequenceNumber: string;
};

type Change = Told & { readonly extraction: ExtractionSnapshot };

/**
 * What one record of the stream tells. Every write of the service does one thing, so it is always exactly one:
 *
 * - `requested`: an extraction was asked for
 * - `progressed`: its status moved, and there is no outcome yet; `STARTING` may go back to `REQUESTED`
 * - `settled`: it has an outcome, the first one
 * - `corrected`: another outcome replaces the one told before: a correction, after `TIMED_OUT`
 * - `reopened`: the outcome told before is withdrawn, and there is none: `UNCONFIRMED` went back to `RUNNING`
 * - `collected`: its results are stored, or there are none to store
 * - `not-collected`: its results will not come, and why
 * - `housekeeping`: nothing that concerns anybody else
 * - `restored`: a record that had been lost was put back from a backup, perhaps in an earlier state: take it as it is
 * - `erased`: somebody deleted the record; its results are gone or going, and copies should go too
 * - `expired`: the record's retention is over; nothing is the matter
 */
export type ExtractionEvent =
  | (Change & { readonly kind: 'requested' })
  | (Change & { readonly kind: 'progressed'; readonly from: Status; readonly to: Status })
  | (Change & { readonly kind: 'settled'; readonly from: Status; readonly outcome: Status })
  | (Change & { readonly kind: 'corrected'; readonly from: Status; readonly outcome: Status })
  | (Change & { readonly kind: 'reopened'; readonly from: Status; readonly to: Status })
  | (Change & { readonly kind: 'collected' })
  | (Change & { readonly kind: 'not-collected'; readonly collectionError: string })
  | (Change & { readonly kind: 'housekeeping' })
  | (Change & { readonly kind: 'restored' })
  | (Told & { readonly kind: 'erased' })
  | (Told & { readonly kind: 'expired' });

/** The record is not one of ours, or not whole. `problem` is a sentence without any of its content. */
export type NotOurs = { readonly kind: 'not-ours'; readonly problem: string };
