import { expectedStartAt } from '../../../lib/extraction/api/expected-start.ts';
import {
  isReadTimeOver,
  isStartStale,
  plusSeconds,
  readUntil,
  startUntil,
  startWindowOf,
  windowEnd,
} from '../../../lib/extraction/deadlines.ts';
import {
  type Collecting,
  type Grace,
  phaseOf,
  type Running,
  type Starting,
} from '../../../lib/extraction/phase.ts';
import { hasTaskItem, hasWebhook, isUnderstood } from '../../../lib/extraction/record.ts';
import { holdOf } from '../terminal/describe-hold.ts';
import { currentVisit, lastFailure, nextAttemptAt, type StateVisit } from './execution-progress.ts';
import { type NextRead, nextRead, nextStatus, type Open } from './next-step.ts';
import { webhookCame } from './outcome-facts.ts';
import type { StoryFact } from './story-facts.ts';

type In<Phase> = Open & { readonly record: Phase };

type Facts = readonly StoryFact[];

/** By a message that is delayed until `dueAt`. Without one, the sweep queues it at its first run after that. */
const dueOf = ({ record }: Open): string => record.dueAt ?? '';

/** Another record had this id before, so that its execution, which has the same name, does nothing for this one. */
const isOfEarlierRecord = ({ execution, record }: Open): boolean =>
  // Intake writes the record before it starts the execution. The two clocks differ by less than a second.
  execution !== undefined && plusSeconds(execution.startedAt, 5) < record.requestedAt;

/** It is in line for the provider's rate. What a breaker or an operator holds is in line as well. */
const inLineFacts = (since: string, { record, holds, settings, line, now }: Open): Facts => {
  const hold = holdOf(record, holds);
  const startsAt = line === undefined ? undefined : expectedStartAt(line, record.extractionId, now);
  return [
    ...(hold === undefined ? [] : [{ fact: 'held', hold } as const]),
    { fact: 'inLine', since },
    ...(startsAt === undefined ? [] : [{ fact: 'startExpected', at: startsAt } as const]),
    { fact: 'maxWait', seconds: settings.timings.maxWait },
  ];
};

const startFailedFacts = (known: Open): Facts => {
  const { record, execution, settings, now } = known;
  const visit = execution === undefined ? undefined : currentVisit(execution);
  const failure = lastFailure(visit);
  if (visit === undefined || failure?.error === undefined) return [{ fact: 'waitsForStart' }];
  const { number, error, message: problem } = failure;
  const last = visit.attempts.at(-1);
  if (last !== undefined && last.number > number)
    return [
      { fact: 'startFailed', number, error, problem },
      { fact: 'triesNow', number: last.number, since: last.scheduledAt },
    ];
  const { notBefore } = record;
  const isAsked = notBefore !== undefined && notBefore > now.toISOString();
  return [
    { fact: 'startFailed', number, error, problem },
    ...(isAsked ? [{ fact: 'noCallBefore', notBefore } as const] : []),
    { fact: 'triesAgain', by: nextAttemptAt(visit, failure, settings) },
  ];
};

const requestedFacts = (known: Open): Facts => {
  const { record, settings, execution, now, unread, place } = known;
  if (place?.isWaiting === true && place.waitingSince !== undefined)
    return inLineFacts(place.waitingSince, known);
  const { requestedAt } = record;
  const { startWindow } = startWindowOf(place, { requestedAt, wait: 'ends-now' }, now, settings.timings);
  const endsAt = windowEnd(requestedAt, { ...settings.timings, startWindow });
  const endsNotStarted = { fact: 'endsNotStarted', after: dueOf(known) } as const;
  if (now.toISOString() >= endsAt) return [{ fact: 'notStartedBy', windowEnd: endsAt }, endsNotStarted];
  const otherwise = { fact: 'endsWithoutStart', windowEnd: endsAt } as const;
  if (isOfEarlierRecord(known)) return [{ fact: 'executionOfEarlier' }, otherwise];
  if (execution === undefined && !unread.has('execution')) return [{ fact: 'noExecution' }, otherwise];
  if (execution?.end !== undefined)
    return [{ fact: 'executionOver', how: execution.end.how }, endsNotStarted];
  const hold = holdOf(record, known.holds);
  if (hold !== undefined)
    return [
      { fact: 'held', hold },
      ...(execution === undefined ? [] : [{ fact: 'triesMeanwhile' } as const]),
      otherwise,
    ];
  return [...startFailedFacts(known), otherwise];
};

const startingFacts = (known: In<Starting>): Facts => {
  const { record, settings, now } = known;
  const isStale = isStartStale(record, now, settings.timings);
  const staleAt = startUntil(record, settings.timings);
  return [
    { fact: isStale ? 'startStale' : 'startCalled', at: record.startingAt, staleAt, after: dueOf(known) },
  ];
};

const timesOut = ({ record }: Open): StoryFact => ({ fact: 'timesOut', deadline: record.deadlineAt });

/** What keeps a reconcile from reading the provider, or delays it. */
const stoppedFacts = (known: Open): Facts => {
  const next = nextRead(known);
  if (next.kind === 'held') return [{ fact: 'held', hold: next.hold }, { fact: 'nothingRead' }];
  if (next.kind === 'never') return [{ fact: 'neverRead' }];
  if (next.kind === 'skipped') return [{ fact: 'readSkipped' }];
  if (next.kind === 'asked') return [{ fact: 'noReadBefore', notBefore: next.notBefore }];
  return next.kind === 'made' && known.record.readsSlowly === true ? [{ fact: 'readsSlowly' }] : [];
};

/** Whether the next reconcile surely reads nothing. */
const isUnread = (kind: NextRead['kind']): boolean => kind === 'never' || kind === 'skipped';

/** Without a read that is known to be made, it says nothing of one. */
const nextReconcile = (known: Open): StoryFact => ({
  fact: 'nextReconcile',
  after: dueOf(known),
  isRead: nextRead(known).kind === 'made',
});

/** A record whose time is over. If it can be read, it closes after one more read, which a pause holds for as long as it lasts. */
const lateFacts = (known: Open): Facts => {
  const next = nextRead(known);
  return next.kind === 'held'
    ? [{ fact: 'held', hold: next.hold }, { fact: 'closesOnceResumed' }]
    : [{ fact: 'closesNext', isRead: next.kind === 'made' }, ...stoppedFacts(known)];
};

/** When the machine's wait for the webhook ends, or has ended. */
const webhookWaitEnds = ({ record, settings, execution }: Open): string => {
  const attempt = execution?.visits.findLast(({ state }) => state === 'StartTask')?.attempts.at(-1);
  const since = attempt?.scheduledAt ?? record.startingAt ?? record.requestedAt;
  return plusSeconds(since, attempt?.timeoutSeconds ?? settings.webhookWait);
};

/** What the item of the task shows, where that decides what follows. */
const taskFacts = (known: In<Running>, waitEnd: string): Facts | undefined => {
  const { task, extractionId, now, unread, record } = known;
  const { taskId } = record;
  const owner = task?.extractionId;
  if (owner !== undefined && owner !== extractionId)
    return [{ fact: 'othersTask', taskId, owner, endsAs: nextStatus(known) }];
  if (task?.taskStatus !== undefined)
    return [{ fact: 'unrecordedDelivery', taskStatus: task.taskStatus, at: task.notifiedAt }];
  const isOver = isReadTimeOver(record, now, known.settings.timings);
  if (unread.has('task') || owner !== undefined || isOver) return undefined;
  return [{ fact: 'unlinked', taskId, waitEnd }, timesOut(known)];
};

const withoutWebhook = ({ record }: Open) =>
  record.method === 'consent' ? ('consent' as const) : ('silent-provider' as const);

const pollFacts = (known: Open, visit: StateVisit): Facts => {
  const { settings, record } = known;
  const failure = visit.attempts.findLast(({ error }) => error !== undefined);
  const isMissing = webhookCame(known) === false && known.refusedDeliveries === 0;
  const late = isMissing ? ('webhook-missing' as const) : ('wait-over' as const);
  const isOver = isUnread(nextRead(known).kind);
  const isUnderWay = visit.attempts.at(-1) !== failure;
  return [
    {
      fact: 'polls',
      why: hasWebhook(record) ? late : withoutWebhook(known),
      since: visit.enteredAt,
      count: isOver ? undefined : visit.attempts.length,
      nextBy:
        isOver || isUnderWay || failure === undefined ? undefined : nextAttemptAt(visit, failure, settings),
    },
    timesOut(known),
    ...stoppedFacts(known),
  ];
};

const runningFacts = (known: In<Running>): Facts => {
  const { record, settings, execution, now } = known;
  const { deadlineAt: deadline } = record;
  const visit = execution === undefined ? undefined : currentVisit(execution);
  const waitEnd = webhookWaitEnds(known);
  const task = hasTaskItem(record) ? taskFacts(known, waitEnd) : undefined;
  if (task !== undefined) return task;
  const isRead = nextRead(known).kind === 'made';
  if (isReadTimeOver(record, now, settings.timings))
    return [{ fact: 'deadlineOver', deadline, isRead }, ...stoppedFacts(known)];
  if (record.oversizedAt !== undefined)
    return [
      { fact: 'statusTooLarge', at: record.oversizedAt, hasWebhook: hasWebhook(record) },
      timesOut(known),
    ];
  if (visit?.state.startsWith('Reconcile')) return pollFacts(known, visit);
  const rest = [timesOut(known), ...stoppedFacts(known)];
  if (execution?.end !== undefined) {
    const waits: StoryFact = hasWebhook(record)
      ? { fact: 'waitsWithoutMachine', how: execution.end.how }
      : { fact: 'queueContinues', why: withoutWebhook(known) };
    return [waits, nextReconcile(known), ...rest];
  }
  return hasWebhook(record)
    ? [{ fact: 'waitsForWebhook', until: waitEnd, pollEvery: settings.poll.every, deadline }]
    : [{ fact: 'atProvider', isPolled: isRead }, ...rest];
};

const collectingFacts = (known: In<Collecting>): Facts => {
  const { record, settings, now } = known;
  const until = readUntil(record, settings.timings);
  const failure = known.logs.findLast(
    ({ at, level, service }) => at >= record.settledAt && level === 'ERROR' && service !== 'receive-webhook',
  );
  const head: Facts = [
    { fact: 'uncollected' },
    ...(failure === undefined
      ? []
      : [{ fact: 'lastTryFailed', at: failure.at, message: failure.message } as const]),
  ];
  if (isReadTimeOver(record, now, settings.timings))
    return [...head, { fact: 'timeOver', of: 'collecting', at: until }, ...lateFacts(known)];
  const after = dueOf(known);
  if (record.oversizedAt !== undefined) return [...head, { fact: 'closesTooLarge', after }];
  const next = nextRead(known).kind;
  const rest: StoryFact = isUnread(next)
    ? { fact: 'closesWithoutResults', at: until }
    : { fact: 'collectedUntil', until, after, isRead: next === 'made' };
  return [...head, rest, ...stoppedFacts(known)];
};

const graceFacts = (known: In<Grace>): Facts => {
  const { record, settings, now } = known;
  const until = readUntil(record, settings.timings);
  if (isReadTimeOver(record, now, settings.timings))
    return [{ fact: 'timeOver', of: 'grace', at: until }, ...lateFacts(known)];
  const byWebhook = hasWebhook(record);
  const byRead = !isUnread(nextRead(known).kind);
  return [
    byWebhook || byRead
      ? { fact: 'correctedUntil', until, byWebhook, byRead }
      : { fact: 'closes', at: until },
    ...(byRead ? [nextReconcile(known)] : []),
    ...stoppedFacts(known),
  ];
};

/** What an open extraction waits for. The outcome of one that has ended is not part of it. */
export const waitingFacts = (known: Open): Facts => {
  const { status, schemaVersion } = known.record;
  if (!isUnderstood(known.record)) return [{ fact: 'ofNewerVersion', status, schemaVersion }];
  const record = phaseOf(known.record);
  switch (record.phase) {
    case 'requested':
      return requestedFacts(known);
    case 'starting':
      return startingFacts({ ...known, record });
    case 'running':
      return runningFacts({ ...known, record });
    case 'grace':
      return graceFacts({ ...known, record });
    case 'collecting':
      return collectingFacts({ ...known, record });
    default:
      return [{ fact: 'lacking', endsAs: nextStatus(known), after: dueOf(known) }];
  }
};
