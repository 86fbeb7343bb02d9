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
  | 'results';

/** `Omit` of a union keeps only what its members share; this omits from each. */
type WithoutInternal<Record> = Record extends Extraction ? Omit<Record, InternalAttribute> : never;

/** What a caller sees of a record: everything but how the service keeps its own house. */
export type PublicExtraction = WithoutInternal<Extraction> & {
  readonly results?: {
    readonly url: string;
    readonly expiresAt: string;
    readonly bytes: number;
    readonly sha256: string;
  };
};

export const publicView = (
  record: Extraction,
  link?: { readonly url: string; readonly expiresAt: string },
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
    results,
    ...shown
  } = record;
  if (results === undefined || link === undefined) return shown;
  return { ...shown, results: { ...link, bytes: results.bytes, sha256: results.sha256 } };
};
