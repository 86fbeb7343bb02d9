import { plusSeconds, readUntil, secondsSince, startUntil, type Timings } from './deadlines.ts';
import { phaseOf } from './phase.ts';
import type { Extraction } from './record.ts';

/**
 * When a reconcile has to change the status or close the record, whatever the provider answers. Unlike `dueAt`, this
 * cannot be postponed forever: only the statuses of the start window can occur twice.
 */
const mustTransitionBy = (record: Extraction, timings: Timings): string => {
  const phase = phaseOf(record);
  switch (phase.phase) {
    // By then it has left the line, too. Until then `dueAt` shows one whose reconcile fails.
    case 'requested':
      return plusSeconds(phase.requestedAt, timings.startWindow + timings.maxWait);
    case 'starting':
      return startUntil(phase, timings);
    case 'grace':
    case 'collecting':
      return readUntil(phase, timings);
    // A running execution reconciles at the deadline. If there is none, the sweep does so after the slack. So it does with a record
    // that lacks an attribute.
    default:
      return plusSeconds(phase.deadlineAt, timings.machineSlack);
  }
};

/**
 * For how many seconds an open record has been in its status beyond the time that the rules allow. 0 for a closed record
 * and for one in time.
 */
export const stuckSeconds = (record: Extraction, now: Date, timings: Timings): number => {
  if (record.dueShard === undefined) return 0;
  return Math.max(0, secondsSince(mustTransitionBy(record, timings), now));
};
