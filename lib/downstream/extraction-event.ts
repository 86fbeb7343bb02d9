import type { Extraction, ExtractionStatus } from '../extraction/record.ts';
import type { Open } from '../provider/vocabulary.ts';

/** The status of an extraction. New values can appear at any time, so have a default branch. */
export type Status = Open<ExtractionStatus>;

/** What to do next after an outcome. Treat a value that you do not know as `operator`. */
export type Advice = Open<NonNullable<Extraction['advice']>>;

type Distribute<T> = T extends unknown
  ? Omit<T, 'status' | 'advice'> & { readonly status: Status; readonly advice?: Advice }
  : never;

/**
 * The record after the change (docs/stream.md lists every attribute). Times are ISO 8601 text in UTC with
 * milliseconds. They sort as text and survive JSON; `new Date(text)` parses them. Attributes that this version does not
 * declare are present too.
 */
export type ExtractionSnapshot = Distribute<Extraction>;

type EventIdentity = {
  readonly extractionId: string;
  /** The stream's id of this change. It is the same in every delivery of the record. */
  readonly eventId: string;
  /** Orders the changes of one extraction. Compare it as `BigInt`, because it has too many digits for a number. */
  readonly sequenceNumber: string;
};

type Change = EventIdentity & { readonly extraction: ExtractionSnapshot };

/**
 * One change of a record. Every write of the service does one thing, so each change has exactly one kind:
 *
 * - `requested`: an extraction was requested
 * - `progressed`: the status changed and there is no outcome yet; `STARTING` can return to `REQUESTED`
 * - `settled`: the extraction has its first outcome
 * - `corrected`: another outcome replaces the previous one, which was `TIMED_OUT`
 * - `reopened`: the previous outcome is withdrawn and there is none: `UNCONFIRMED` returned to `RUNNING`
 * - `collected`: the results are stored, or there are none to store
 * - `not-collected`: the results will not be stored; `collectionError` is the reason
 * - `advised`: only the advice changed, as at the end of the grace of `TIMED_OUT`, from `wait` to `ask-provider`
 * - `erasing`: it is to be erased: delete your copies now, and make none of what follows. `erased` comes once the record is gone
 * - `housekeeping`: an internal change, such as another `dueAt`
 * - `restored`: a lost record was restored from a backup, perhaps in an earlier state; use it as it is
 * - `erased`: the record was deleted on request and its results are being deleted; delete your copies too
 * - `expired`: the record's retention ended; no action is needed
 */
export type ExtractionEvent =
  | (Change & { readonly kind: 'requested' })
  | (Change & { readonly kind: 'progressed'; readonly from: Status; readonly to: Status })
  | (Change & { readonly kind: 'settled'; readonly from: Status; readonly outcome: Status })
  | (Change & { readonly kind: 'corrected'; readonly from: Status; readonly outcome: Status })
  | (Change & { readonly kind: 'reopened'; readonly from: Status; readonly to: Status })
  | (Change & { readonly kind: 'collected' })
  | (Change & { readonly kind: 'not-collected'; readonly collectionError: string })
  | (Change & { readonly kind: 'advised' })
  | (Change & { readonly kind: 'erasing' })
  | (Change & { readonly kind: 'housekeeping' })
  | (Change & { readonly kind: 'restored' })
  | (EventIdentity & { readonly kind: 'erased' })
  | (EventIdentity & { readonly kind: 'expired' });

/** The record is not from the stream of extractions, or is incomplete. `problem` contains none of its content. */
export type NotOurs = { readonly kind: 'not-ours'; readonly problem: string };
