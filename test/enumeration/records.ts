import type { Change } from '#lib/extraction/change.ts';
import { plusSeconds } from '#lib/extraction/deadlines.ts';
import type { Invoker } from '#lib/extraction/plan.ts';
import { type Extraction, isTerminalStatus } from '#lib/extraction/record.ts';
import * as transitions from '#lib/extraction/transitions.ts';
import { consentExtraction, extraction, timings } from '../support/data/extraction-fixtures.ts';
import { extractionStoreOver } from '../support/stores/memory-extraction-store.ts';

/** The start attempt of the start-task that is enumerated. */
export const ownAttempt = 'attempt-own';
const laterAttempt = 'attempt-later';

export const taskOf = (attemptId: string | undefined): string => `task-of-${attemptId}`;

/** Every change that some process may make to a record in its status. */
const changesOf = (record: Extraction, now: Date): readonly Change[] => {
  const { extractionId, status, attemptId = '', taskId = taskOf(attemptId), oversizedAt } = record;
  const at = { record, now, timings, attemptId, taskId, reason: 'reason', settledBy: 'reconcile' } as const;
  const reported = (['COMPLETED', 'FAILED'] as const).map((taskStatus) => ({
    ...at,
    reported: { extractionId, taskId, taskStatus, reason: undefined, isOversized: false },
  }));
  const isOpen = record.dueShard !== undefined;
  const abandoned = transitions.closeUncollected({ ...at, collectionError: 'request-data-gone' });
  if (attemptId === laterAttempt && status !== 'STARTING') return [];
  if (status === 'REQUESTED') {
    const next = attemptId === '' ? 'attempt-1' : laterAttempt;
    return [transitions.markStarting({ ...at, attemptId: next }), transitions.markNotStarted(at)];
  }
  if (status === 'STARTING') {
    const reverted = transitions.revertToRequested({ ...at, notBefore: undefined });
    return [
      reverted,
      transitions.markRunning(at),
      transitions.markRejected(at),
      transitions.markUnconfirmed(at),
    ];
  }
  if (status === 'UNCONFIRMED') return record.taskId === undefined ? [transitions.markRunningLate(at)] : [];
  if (status === 'RUNNING') {
    const late = { ...at, now: new Date(Math.max(now.getTime(), Date.parse(record.deadlineAt))) };
    const timedOut = [transitions.markTimedOut(late), transitions.timeOutOversized(late)];
    const others = [
      transitions.disownTask(at),
      ...(oversizedAt === undefined ? [transitions.rememberOversized(at)] : []),
    ];
    return [...reported.map(transitions.markSettled), ...timedOut, ...others];
  }
  if (status === 'TIMED_OUT') {
    const closes = [transitions.closeAfterGrace(at), abandoned, transitions.abandonOversized(at)];
    return [...reported.map(transitions.correctOutcome), ...(isOpen ? closes : [])];
  }
  if (!isTerminalStatus(status) || !isOpen) return [];
  const collected = transitions.closeCollected({ ...at, results: undefined, actionResults: undefined });
  return [collected, abandoned, transitions.abandonOversized(at)];
};

const direct = async <T>(_call: unknown, effect: () => T): Promise<T> => effect();

const kindOf = (record: Extraction): string => {
  const { status, attemptId, taskId, dueShard, oversizedAt, collectedAt } = record;
  return [status, attemptId, taskId, dueShard, oversizedAt !== undefined, collectedAt !== undefined].join();
};

/** One record of each kind that the changes of all processes can make of a record, and that record. Each takes 5 s. */
const closureOf = async (record: Extraction, now: Date): Promise<readonly Extraction[]> => {
  const found = new Map([[kindOf(record), { record, now }]]);
  for (const { record: from, now: before } of found.values()) {
    const at = new Date(before.getTime() + 5_000);
    for (const one of changesOf(from, at)) {
      const items = new Map([[from.extractionId, from]]);
      const applied = await extractionStoreOver(items, direct).apply(one);
      const to = applied.applied ? applied.record : from;
      if (!found.has(kindOf(to))) found.set(kindOf(to), { record: to, now: at });
    }
  }
  return [...found.values()].map(({ record: one }) => one);
};

const isDisowned = ({ status, taskId }: Extraction) => status === 'UNCONFIRMED' && taskId !== undefined;

/** One valid record of each kind. */
export const allRecords = async (): Promise<readonly Extraction[]> => {
  const requested = [extraction(), consentExtraction()];
  const all = await Promise.all(requested.map((one) => closureOf(one, new Date(one.requestedAt))));
  return all
    .flat()
    .filter((one) => one.attemptId !== laterAttempt && !(isDisowned(one) && one.method === 'consent'));
};

const reached = new Map<string, readonly (Extraction | undefined)[]>();

/** What a record may be once other processes have changed it. Undefined: erased. */
export const reachableFrom = async (
  record: Extraction | undefined,
  now: Date,
): Promise<readonly (Extraction | undefined)[]> => {
  if (record === undefined) return [];
  const key = `${JSON.stringify(record)}${now.getTime()}`;
  let reachable = reached.get(key);
  if (reachable === undefined) {
    const { notBefore: _held, lastReadBegunAt: _read, readsSlowly: _slow, ...plain } = record;
    const [, ...changed] = await closureOf(plain, now);
    const moved = record.dueShard === undefined ? [] : [{ ...record, dueAt: plusSeconds(now, 60) }];
    const requested = record.method === 'credentials' ? extraction : consentExtraction;
    reachable = [undefined, requested({ requestId: 'request-later' }), ...moved, ...changed];
    reached.set(key, reachable);
  }
  return reachable;
};

/** A time of a record, or that of the step before, if it is missing or damaged. */
const timeOr = (time: string | undefined, before: string): string =>
  time === undefined || Number.isNaN(Date.parse(time)) ? before : time;

/** When the rules for a record change by the clock alone. */
export const limitsOf = (record: Extraction): readonly string[] => {
  const { status, dueShard, dueAt, notBefore, startingAt, settledAt } = record;
  if (dueShard === undefined) return [];
  const requestedAt = timeOr(record.requestedAt, new Date(0).toISOString());
  const deadlineAt = timeOr(record.deadlineAt, requestedAt);
  const ofStatus = isTerminalStatus(status)
    ? plusSeconds(timeOr(settledAt, requestedAt), timings.collectFor)
    : status === 'TIMED_OUT'
      ? plusSeconds(timeOr(settledAt, deadlineAt), timings.grace)
      : status === 'STARTING'
        ? plusSeconds(timeOr(startingAt, requestedAt), timings.startTimeout)
        : status === 'REQUESTED'
          ? plusSeconds(requestedAt, timings.startWindow)
          : deadlineAt;
  return [ofStatus, dueAt, notBefore].filter((limit) => limit !== undefined);
};

/** Whether the rules let a process without an answer end the status of a record that it decided on at this time. */
export const mayEnd = (record: Extraction, at: Date): boolean => {
  const [limit = ''] = limitsOf(record);
  if (record.status !== 'STARTING') return at.toISOString() >= limit;
  return record.startingAt === undefined || at.toISOString() > limit;
};

/** When results that lack a part are stored as they are. */
export const lagEndOf = ({ settledAt, requestedAt }: Extraction): string =>
  plusSeconds(settledAt ?? requestedAt, timings.resultsLag);

/** Before, at and after each limit of a record, and soon after its last change. `dueAt` matters only to a message `due`. */
export const positionsFor = (record: Extraction, invoker: Invoker): readonly Date[] => {
  const { requestedAt, startingAt, startedAt, settledAt } = record;
  const last = Math.max(
    ...[requestedAt, startingAt, startedAt, settledAt].map((time) => Date.parse(time ?? requestedAt)),
  );
  const isDue = invoker.kind === 'queue' && invoker.cause === 'due';
  const limits = isDue ? limitsOf(record) : limitsOf(record).slice(0, 1);
  const lags = isTerminalStatus(record.status) && record.dueShard !== undefined ? [lagEndOf(record)] : [];
  const around = [...limits, ...lags].flatMap((limit) => [-1, 0, 1].map((by) => Date.parse(limit) + by));
  return [...new Set([last + 1_000, ...around])].map((time) => new Date(time));
};

/** The record with every combination of what is kept about its reads. */
export const variantsOf = (record: Extraction, now: Date): readonly Extraction[] => {
  if (record.dueShard === undefined || record.status === 'STARTING') return [record];
  const read = (secondsAgo: number) => ({ lastReadBegunAt: plusSeconds(now, -secondsAgo) });
  const isRead = record.taskId !== undefined;
  const reads = isRead ? [{}, read(500), read(10)] : [{}];
  const slow = isRead ? [{}, { readsSlowly: true } as const] : [{}];
  const held = [{}, { notBefore: plusSeconds(now, 600) }];
  const all = reads.flatMap((one) =>
    slow.flatMap((two) => held.map((three) => ({ ...record, ...one, ...two, ...three }))),
  );
  return [...all, { ...record, notBefore: plusSeconds(now, -1) }];
};

/** How much is kept about the reads of a record. */
export const countKept = ({ lastReadBegunAt, readsSlowly, notBefore }: Extraction): number =>
  [lastReadBegunAt, readsSlowly, notBefore].filter((kept) => kept !== undefined).length;

export const invokersFor = ({ requestId, dueAt = '' }: Extraction): readonly Invoker[] => [
  { kind: 'start', requestId },
  { kind: 'webhook' },
  { kind: 'machine' },
  { kind: 'queue', cause: 'due', dueAt },
  { kind: 'queue', cause: 'sweep', dueAt },
  { kind: 'queue', cause: 'sweep', dueAt: 'another' },
  { kind: 'queue', cause: 'execution-broken' },
  { kind: 'queue', cause: 'sweep', dueAt, isSlow: true },
  { kind: 'operator' },
  { kind: 'cancel', problem: 'cancelled' },
];
