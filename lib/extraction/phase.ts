import { type Extraction, isTerminalStatus } from './record.ts';

/** A record with the attributes that every record of its phase has. */
type In<Name extends string, Must extends keyof Extraction = never> = Extraction & {
  readonly phase: Name;
} & { readonly [Each in Must]-?: NonNullable<Extraction[Each]> };

type Requested = In<'requested'>;
export type Starting = In<'starting', 'attemptId' | 'startingAt'>;
export type Running = In<'running', 'taskId' | 'startedAt'>;
/** `TIMED_OUT` and open: read for a correction. */
export type Grace = In<'grace', 'taskId' | 'settledAt'>;
/** A final status, and open: its results are read. */
export type Collecting = In<'collecting', 'taskId' | 'settledAt'>;
type Closed = In<'closed'>;
/** Open, but it lacks an attribute that its status needs, or nothing is left to do. Somebody wrote the table by hand. */
type Incomplete = In<'incomplete'>;

export type Phase = Requested | Starting | Running | Grace | Collecting | Closed | Incomplete;

/** The phases in which the task is read. */
export type Readable = Running | Grace | Collecting;

/**
 * A time in a form that can be compared. A missing or damaged time becomes the time of the step before, so that nothing waits longer
 * because of it.
 */
export const timeOr = (time: string | undefined, before: string): string => {
  const parsed = Date.parse(time ?? '');
  return Number.isNaN(parsed) ? before : new Date(parsed).toISOString();
};

/** The record, with times that can be compared. */
const withTimes = (record: Extraction): Extraction => {
  const requestedAt = timeOr(record.requestedAt, new Date(0).toISOString());
  const { lastReadBegunAt } = record;
  return {
    ...record,
    requestedAt,
    deadlineAt: timeOr(record.deadlineAt, requestedAt),
    ...(lastReadBegunAt === undefined ? {} : { lastReadBegunAt: timeOr(lastReadBegunAt, requestedAt) }),
  };
};

/** The phase of a record, from which decisions are made. Every record has one. Unknown attributes stay. */
export const phaseOf = (stored: Extraction): Phase => {
  const record = withTimes(stored);
  const { status, attemptId, taskId, dueShard, collectedAt, requestedAt, deadlineAt } = record;
  if (status === 'REQUESTED') return { ...record, phase: 'requested' };
  if (status === 'STARTING' && attemptId !== undefined) {
    return { ...record, phase: 'starting', attemptId, startingAt: timeOr(record.startingAt, requestedAt) };
  }
  if (status !== 'STARTING' && dueShard === undefined) return { ...record, phase: 'closed' };
  if (taskId !== undefined && status === 'RUNNING') {
    return { ...record, phase: 'running', taskId, startedAt: timeOr(record.startedAt, requestedAt) };
  }
  if (taskId !== undefined && status === 'TIMED_OUT') {
    return { ...record, phase: 'grace', taskId, settledAt: timeOr(record.settledAt, deadlineAt) };
  }
  if (taskId !== undefined && collectedAt === undefined && isTerminalStatus(status)) {
    return { ...record, phase: 'collecting', taskId, settledAt: timeOr(record.settledAt, requestedAt) };
  }
  return { ...record, phase: 'incomplete' };
};
