import type { Extraction, ExtractionStatus } from '../extraction/record.ts';
import { describeProgress } from './describe-record.ts';
import { formatSeconds, secondsSince } from './format-seconds.ts';

/** Between two reads, in milliseconds. */
const pause = 1_000;

export type FollowDeps = {
  readonly get: (extractionId: string) => Promise<Extraction | undefined>;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called on a change of status, on collection and on close. */
  readonly onChange: (line: string, facts: Readonly<Record<string, unknown>>) => void;
  /** Called between changes. */
  readonly onWait: (line: string) => void;
};

/** The status with which it was closed, or `absent` where there is no such extraction. */
export type FollowResult = ExtractionStatus | 'absent';

/** Reads a record until it is closed. */
export const followExtraction = async (extractionId: string, deps: FollowDeps): Promise<FollowResult> => {
  let printed: string | undefined;
  for (;;) {
    const record = await deps.get(extractionId);
    if (record === undefined) return 'absent';
    const elapsed = formatSeconds(secondsSince(record.requestedAt, deps.now()));
    const progress = describeProgress(record);
    if (progress !== printed) {
      const { status, settledBy, reason, collectedAt, collectionError, dueShard } = record;
      const facts = { extractionId, status, settledBy, reason, collectedAt, collectionError };
      deps.onChange(`${elapsed.padStart(12)}  ${progress}`, { ...facts, closed: dueShard === undefined });
      printed = progress;
    }
    if (record.dueShard === undefined) return record.status;
    deps.onWait(`${record.status} for ${formatSeconds(secondsSince(sinceOf(record), deps.now()))}`);
    await deps.sleep(pause);
  }
};

/** When the record got its status. */
const sinceOf = ({ status, requestedAt, startingAt, startedAt, settledAt }: Extraction): string => {
  if (status === 'REQUESTED') return requestedAt;
  if (status === 'STARTING') return startingAt ?? requestedAt;
  return (status === 'RUNNING' ? startedAt : settledAt) ?? requestedAt;
};
