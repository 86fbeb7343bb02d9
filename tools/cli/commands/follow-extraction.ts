import type { Extraction, ExtractionStatus } from '../../../lib/extraction/record.ts';
import { describeProgress } from '../terminal/describe-record.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';

/** Between two reads, in milliseconds. */
const pause = 1_000;

export type FollowDeps = {
  readonly get: (extractionId: string) => Promise<Extraction | undefined>;
  readonly now: () => Date;
  /** Returns early once the signal aborts. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Called on a change of status, on collection and on close. */
  readonly onChange: (line: string, facts: Readonly<Record<string, unknown>>) => void;
  /** Called between changes. */
  readonly onWait: (line: string) => void;
};

/** How far to follow. An extraction is settled once it has an outcome, and closed once nothing is left to do. */
export type FollowOptions = {
  readonly until?: 'settled' | 'closed';
  /** In seconds; without it, as long as it takes. */
  readonly timeout?: number;
  readonly interrupted?: AbortSignal;
};

export type FollowResult =
  | { readonly kind: 'ended' | 'timed-out' | 'interrupted'; readonly status: ExtractionStatus }
  | { readonly kind: 'absent' };

/** Reads a record until it is closed, or as far as the options say. */
export const followExtraction = async (
  extractionId: string,
  { until = 'closed', timeout = Number.POSITIVE_INFINITY, interrupted }: FollowOptions,
  deps: FollowDeps,
): Promise<FollowResult> => {
  const start = deps.now().toISOString();
  let printed: string | undefined;
  for (;;) {
    const record = await deps.get(extractionId);
    if (record === undefined) return { kind: 'absent' };
    const elapsed = formatSeconds(secondsSince(record.requestedAt, deps.now()));
    const progress = describeProgress(record);
    if (progress !== printed) {
      deps.onChange(`${elapsed.padStart(12)}  ${progress}`, factsOf(record));
      printed = progress;
    }
    const { status, settledAt, dueShard } = record;
    if (dueShard === undefined || (until === 'settled' && settledAt !== undefined)) {
      return { kind: 'ended', status };
    }
    const left = timeout - secondsSince(start, deps.now());
    if (left <= 0) return { kind: 'timed-out', status };
    deps.onWait(`${status} for ${formatSeconds(secondsSince(sinceOf(record), deps.now()))}`);
    await deps.sleep(Math.min(pause, left * 1_000), interrupted);
    if (interrupted?.aborted === true) return { kind: 'interrupted', status };
  }
};

const factsOf = (record: Extraction): Readonly<Record<string, unknown>> => {
  const { extractionId, status, taskId, settledBy, reason, collectedAt, collectionError, dueShard } = record;
  const closed = dueShard === undefined;
  return { extractionId, status, taskId, settledBy, reason, collectedAt, collectionError, closed };
};

/** When the record got its status. */
const sinceOf = ({ status, requestedAt, startingAt, startedAt, settledAt }: Extraction): string => {
  if (status === 'REQUESTED') return requestedAt;
  if (status === 'STARTING') return startingAt ?? requestedAt;
  return (status === 'RUNNING' ? startedAt : settledAt) ?? requestedAt;
};
