import type { Extraction, ExtractionStatus } from '../extraction/record.ts';
import { describeProgress } from './describe-record.ts';
import { formatSeconds, secondsSince } from './format-seconds.ts';

/** Between two reads, in milliseconds. A person looks no faster. */
const pause = 1_000;

export type FollowDeps = {
  readonly get: (extractionId: string) => Promise<Extraction | undefined>;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** A change of status, of collection, or the close. */
  readonly onChange: (line: string, facts: Readonly<Record<string, unknown>>) => void;
  /** What is waited for meanwhile. */
  readonly onWait: (line: string) => void;
};

/** The status that it was closed with, or that there is no such extraction. */
export type FollowResult = ExtractionStatus | 'absent';

/** Reads a record until it is closed. */
export const followExtraction = async (extractionId: string, deps: FollowDeps): Promise<FollowResult> => {
  let told: string | undefined;
  for (;;) {
    const record = await deps.get(extractionId);
    if (record === undefined) return 'absent';
    const elapsed = formatSeconds(secondsSince(record.requestedAt, deps.now()));
    const progress = describeProgress(record);
    if (progress !== told) {
      const { status, settledBy, reason, collectedAt, collectionError, dueShard } = record;
      const facts = { extractionId, status, settledBy, reason, collectedAt, collectionError };
      deps.onChange(`${elapsed.padStart(12)}  ${progress}`, { ...facts, closed: dueShard === undefined });
      told = progress;
    }
    if (record.dueShard === undefined) return record.status;
    deps.onWait(`${record.status} for ${formatSeconds(secondsSince(sinceOf(record), deps.now()))}`);
    await deps.sleep(pause);
  }
};

/** When the record came to the status that it has. */
const sinceOf = ({ status, requestedAt, startingAt, startedAt, settledAt }: Extraction): string => {
  if (status === 'REQUESTED') return requestedAt;
  if (status === 'STARTING') return startingAt ?? requestedAt;
  return (status === 'RUNNING' ? startedAt : settledAt) ?? requestedAt;
};
