import type { Extraction } from './record.ts';

type House =
  | 'schemaVersion'
  | 'fingerprint'
  | 'requestId'
  | 'attemptId'
  | 'startingAt'
  | 'open'
  | 'openUntil'
  | 'expiresAt'
  | 'oversizedAt'
  | 'results';

/** `Omit` of a union keeps only what its members share; this omits from each. */
type WithoutHouse<Record> = Record extends Extraction ? Omit<Record, House> : never;

/** What a caller sees of a record: everything but how the service keeps its own house. */
export type PublicExtraction = WithoutHouse<Extraction> & {
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
    open: _open,
    openUntil: _openUntil,
    expiresAt: _expiresAt,
    oversizedAt: _oversizedAt,
    results,
    ...shown
  } = record;
  if (results === undefined || link === undefined) return shown;
  return { ...shown, results: { ...link, bytes: results.bytes, sha256: results.sha256 } };
};
