import type { Extraction } from '../../../../lib/extraction/record.ts';
import { percentile } from '../../health/progress-rows.ts';
import { secondsSince } from '../../terminal/format-seconds.ts';

export type HourSummary = {
  readonly hour: string;
  readonly completed: number;
  readonly partial: number;
  /** Failed at the provider, refused by it, or never started. */
  readonly failed: number;
  /** `UNCONFIRMED` and `TIMED_OUT`. */
  readonly unknown: number;
  /** Seconds from the request to the outcome: half of them took no longer than `p50`. */
  readonly p50: number;
  readonly p95: number;
};

const kindOf = ({ status }: Extraction): 'completed' | 'partial' | 'failed' | 'unknown' => {
  if (status === 'COMPLETED') return 'completed';
  if (status === 'PARTIAL') return 'partial';
  return status === 'UNCONFIRMED' || status === 'TIMED_OUT' ? 'unknown' : 'failed';
};

/** The hours in which something ended, the newest first. */
export const summarizeHours = (records: readonly Extraction[]): readonly HourSummary[] => {
  const ended = records.flatMap((record) =>
    record.settledAt === undefined ? [] : [{ record, settledAt: record.settledAt }],
  );
  const hours = Map.groupBy(ended, ({ settledAt }) => `${settledAt.slice(0, 13)}:00:00.000Z`);
  return [...hours]
    .toSorted(([one], [other]) => other.localeCompare(one))
    .map(([hour, all]) => {
      const count = (kind: ReturnType<typeof kindOf>): number =>
        all.filter(({ record }) => kindOf(record) === kind).length;
      const seconds = all
        .map(({ record, settledAt }) => secondsSince(record.requestedAt, new Date(settledAt)))
        .toSorted((one, other) => one - other);
      return {
        hour,
        completed: count('completed'),
        partial: count('partial'),
        failed: count('failed'),
        unknown: count('unknown'),
        p50: percentile(seconds, 0.5),
        p95: percentile(seconds, 0.95),
      };
    });
};
