import { plusSeconds, readUntil, secondsSince, startUntil, type Timings } from './deadlines.ts';
import { phaseOf } from './phase.ts';
import type { Extraction } from './record.ts';

/**
 * When a reconcile must have changed the status or closed the record, whatever the provider answers. `dueAt` may move for ever, this may
 * not: it moves only with the status, and after the start window no status occurs twice.
 */
const mustTransitionBy = (record: Extraction, timings: Timings): string => {
  const phase = phaseOf(record);
  switch (phase.phase) {
    // By then it has also left the line. Before that, an old `dueAt` shows a record whose reconcile fails.
    case 'requested':
      return plusSeconds(phase.requestedAt, timings.startWindow + timings.maxWait);
    case 'starting':
      return startUntil(phase, timings);
    case 'grace':
    case 'collecting':
      return readUntil(phase, timings);
    // A running execution reconciles at the deadline. Without an execution, the sweep does so after the slack, also for a record that lacks
    // an attribute.
    default:
      return plusSeconds(phase.deadlineAt, timings.machineSlack);
  }
};

/** How many seconds longer an open record has been in its status than the rules allow. 0 if it is closed or in time. */
export const stuckSeconds = (record: Extraction, now: Date, timings: Timings): number => {
  if (record.dueShard === undefined) return 0;
  return Math.max(0, secondsSince(mustTransitionBy(record, timings), now));
};
