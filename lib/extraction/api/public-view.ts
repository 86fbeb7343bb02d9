import { defined } from '../../defined.ts';
import type { Extraction } from '../record.ts';

type InternalAttribute =
  | 'schemaVersion'
  | 'fingerprint'
  | 'requestId'
  | 'attemptId'
  | 'startingAt'
  | 'dueShard'
  | 'dueAt'
  | 'expiresAt'
  | 'oversizedAt'
  | 'notBefore'
  | 'lastReadBegunAt'
  | 'readsSlowly'
  | 'withoutWebhook'
  | 'results';

/** `Omit` of a union keeps only the common properties. This type omits from each member. */
type WithoutInternal<Record> = Record extends Extraction ? Omit<Record, InternalAttribute> : never;

/** The representation of a record in the API: all attributes except the internal ones. */
export type PublicExtraction = WithoutInternal<Extraction> & {
  /** While it waits for the provider's rate, the estimated time of its start. Only in the answer of `GET /extractions/{extractionId}`. */
  readonly expectedStartAt?: string;
  readonly results?: {
    readonly url: string;
    readonly expiresAt: string;
    readonly bytes: number;
    readonly sha256: string;
  };
};

/** The extractions of a batch, counted by status and advice. */
export type BatchSummary = {
  readonly batch: string;
  readonly extractions: number;
  /** False if the batch has more than 10,000. The others were not counted. */
  readonly isComplete: boolean;
  /** How many are open. An outcome, results or a correction may still follow. */
  readonly open: number;
  /** The counts by status and advice, the largest first. Without an outcome there is no advice. */
  readonly counts: readonly {
    readonly status: Extraction['status'];
    readonly advice?: NonNullable<Extraction['advice']>;
    readonly extractions: number;
  }[];
};

/**
 * Removes the internal attributes. `link` is the presigned URL of the results. Without it, `results` is left out. `expectedStartAt` is for
 * a start in line.
 */
export const publicView = (
  record: Extraction,
  link?: { readonly url: string; readonly expiresAt: string },
  expectedStartAt?: string,
): PublicExtraction => {
  const {
    schemaVersion: _schemaVersion,
    fingerprint: _fingerprint,
    requestId: _requestId,
    attemptId: _attemptId,
    startingAt: _startingAt,
    dueShard: _dueShard,
    dueAt: _dueAt,
    expiresAt: _expiresAt,
    oversizedAt: _oversizedAt,
    notBefore: _notBefore,
    lastReadBegunAt: _lastReadBegunAt,
    readsSlowly: _readsSlowly,
    withoutWebhook: _withoutWebhook,
    results,
    ...recorded
  } = record;
  const shown = { ...recorded, ...defined({ expectedStartAt }) };
  if (results === undefined || link === undefined) return shown;
  return { ...shown, results: { ...link, bytes: results.bytes, sha256: results.sha256 } };
};

/** What a caller sees of its erasure. */
export type PublicErasure = {
  readonly erasureId: string;
  /** `SEARCHING`: the index is still being read, and `found` may grow. `ERASING`: `open` extractions are left. `ERASED`: none is left. */
  readonly status: 'SEARCHING' | 'ERASING' | 'ERASED';
  readonly askedAt: string;
  /** When the last extraction was erased. */
  readonly erasedAt?: string;
  readonly found: number;
  readonly erased: number;
  readonly open: number;
};

/** What is to be erased: one extraction, or all with this reference. */
export type ErasureScope = { readonly reference: string } | { readonly extractionId: string };
