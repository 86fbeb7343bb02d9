import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Checked, Facts } from './audit-types.ts';
import { age, checkEach, secondsBetween, slack } from './check-each.ts';

/** For how long something may be due, in seconds: three sweeps, as `doctor` and the alarms have it. */
const late = ({ limits }: Facts): number => 3 * limits.sweepEvery;

/** What waits for longer than its time: for a reconcile, for the end of a start, or for a start that nobody will make. */
export const wrongWait = (facts: Facts, record: Extraction): string | undefined => {
  const { extractionId, requestId, status, requestedAt, startingAt, dueShard, dueAt } = record;
  const { limits, line, recordsReadAt } = facts;
  if (dueShard === undefined || dueAt === undefined) return undefined;
  const isOverdue = secondsBetween(dueAt, recordsReadAt.toISOString()) > late(facts);
  if (isOverdue) return `It is ${status}, and due since ${dueAt}.`;
  const startEnds = limits.startTimeout + limits.pollEvery + late(facts) + slack;
  if (status === 'STARTING' && age(facts, startingAt ?? '') > startEnds)
    return `It is STARTING since ${startingAt}.`;
  if (status !== 'REQUESTED') return undefined;
  const place = line.find((one) => one.extractionId === extractionId && one.requestId === requestId);
  const window = limits.startWindow + (place?.waitedMs ?? 0) / 1_000;
  const isWaiting = place?.line !== undefined || age(facts, requestedAt) < window + late(facts) + slack;
  return isWaiting ? undefined : `It is REQUESTED since ${requestedAt}, and has no place in line.`;
};

/** Where the places of a record are: another caller, priority or group has other turns. */
const slotsOf = (record: Extraction): string => {
  const { requestedBy, priority = 'interactive' } = record;
  const group = record.method === 'consent' ? record.product : record.entity;
  const escaped = [requestedBy, priority, group].map((part) =>
    part.replaceAll('%', '%25').replaceAll('#', '%23'),
  );
  return `${escaped.join('#')}#`;
};

/** Who waits to be released is a start that nobody has made. It leaves the line a moment after it is released. */
export const checkLine = (facts: Facts): Checked => {
  const { records, present } = facts;
  const waiting = facts.line.filter(({ line }) => line !== undefined);
  return checkEach(waiting, ({ extractionId, requestId, slot }) => {
    const record = records.get(extractionId);
    if (record === undefined) {
      return present.has(extractionId) ? undefined : 'It has a place in line, and no record.';
    }
    if (record.requestId !== requestId) return 'Its place in line is of a request that another one replaced.';
    if (!slot.startsWith(slotsOf(record)))
      return `Its place in line is that of another caller or group: ${slot}.`;
    const { status, settledAt, startedAt, startingAt } = record;
    const left = settledAt ?? startedAt ?? startingAt;
    if (status === 'REQUESTED' || left === undefined || age(facts, left) < late(facts) + slack)
      return undefined;
    return `It is ${status} since ${left}, and still has a place in line.`;
  });
};
