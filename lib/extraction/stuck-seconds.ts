import { type Extraction, isTerminalStatus } from './record.ts';
import { plusSeconds, secondsSince, type Timings } from './timings.ts';

/**
 * When a look has to move a record on from where it stands, or to close it, whatever the provider says. No status comes
 * twice, but for those of the start window, so this cannot move for good, as `dueAt` can with every look.
 */
const mustTransitionBy = (record: Extraction, timings: Timings): string => {
  const { status, requestedAt, startingAt = requestedAt, deadlineAt, settledAt = deadlineAt } = record;
  if (isTerminalStatus(status)) return plusSeconds(settledAt, timings.collectFor);
  if (status === 'TIMED_OUT') return plusSeconds(settledAt, timings.grace);
  if (status === 'REQUESTED') return plusSeconds(requestedAt, timings.startWindow);
  if (status === 'STARTING') return plusSeconds(startingAt, timings.startTimeout);
  // A machine that works looks at the deadline; one that is gone leaves it to the sweep, after the slack.
  return plusSeconds(deadlineAt, timings.machineSlack);
};

/** Seconds for which an open record has stood where no rule lets it stand; 0 for all others. Throws a RangeError where a time of the record is none. */
export const stuckSeconds = (record: Extraction, now: Date, timings: Timings): number => {
  if (record.dueShard === undefined) return 0;
  return Math.max(0, secondsSince(mustTransitionBy(record, timings), now));
};
