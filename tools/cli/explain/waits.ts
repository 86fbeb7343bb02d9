import { expectedStartAt } from '../../../lib/extraction/api/expected-start.ts';
import {
  isReadTimeOver,
  isStartStale,
  plusSeconds,
  readUntil,
  startUntil,
} from '../../../lib/extraction/deadlines.ts';
import * as due from '../../../lib/extraction/due.ts';
import {
  type Collecting,
  type Grace,
  phaseOf,
  type Running,
  type Starting,
} from '../../../lib/extraction/phase.ts';
import { type Extraction, hasTaskItem, hasWebhook, isUnderstood } from '../../../lib/extraction/record.ts';
import { startWindowOf } from '../../../lib/extraction/start-window.ts';
import { describeHold, holdOf } from '../terminal/describe-hold.ts';
import { describeStartError } from '../terminal/extraction-failures.ts';
import { formatSeconds } from '../terminal/format-seconds.ts';
import { bounded, clockTime, whyPolled } from './bounded-text.ts';
import { webhookCame } from './derived-facts.ts';
import {
  currentVisit,
  lastFailure,
  nextAttemptAt,
  type Progress,
  type StateVisit,
} from './execution-progress.ts';
import { nextRead, nextStatus, type Open } from './next-step.ts';
import type { Hold } from './sources.ts';

type In<Phase> = Open & { readonly record: Phase };

/** `Starts have been paused since 11:50:00Z by ana: maintenance.` */
export const sentenceOf = (hold: Hold, now: Date): string => {
  const text = describeHold(hold, {
    since: (at) => `since ${clockTime(at, now)}`,
    next: (at) => `at ${clockTime(at, now)}`,
  }).join('');
  return bounded(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
};

const notStartedBy = (windowEnd: string, now: Date): string =>
  `Without a start by ${clockTime(windowEnd, now)} it ends NOT_STARTED, and may be requested again.`;

/** By a message that is delayed until `dueAt`. Without one, the sweep queues it at its first run after that. */
const nextReconcile = ({ dueAt = '' }: Extraction, now: Date): string =>
  `the reconcile after ${clockTime(dueAt, now)}`;

/** Another record had this id before, so that its execution, which has the same name, does nothing for this one. */
const isOfEarlierRecord = ({ execution, record }: Open): boolean =>
  // Intake writes the record before it starts the execution. The two clocks differ by less than a second.
  execution !== undefined && plusSeconds(execution.startedAt, 5) < record.requestedAt;

const nextTry = (visit: StateVisit, { settings, now }: Open): string => {
  const failure = lastFailure(visit);
  const nextAt = failure === undefined ? undefined : nextAttemptAt(visit, failure, settings);
  return nextAt === undefined
    ? 'The machine tries again'
    : `The machine tries again by ${clockTime(nextAt, now)}`;
};

/** It is in line for the provider's rate. What a breaker or an operator holds is in line as well. */
const inLineWaits = (since: string, { record, holds, settings, line, now }: Open): string => {
  const hold = holdOf(record, holds);
  const held = hold === undefined ? '' : `${sentenceOf(hold, now)} `;
  const longest = formatSeconds(settings.timings.maxWait);
  const startsAt = line === undefined ? undefined : expectedStartAt(line, record.extractionId, now);
  const starts = startsAt === undefined ? '' : ` It will be started at about ${clockTime(startsAt, now)}.`;
  return `${held}Waits in line for the rate of the provider since ${clockTime(since, now)}.${starts} If it waits for longer than ${longest}, it ends NOT_STARTED, and may be requested again.`;
};

/** For how long it has been in line, and is not any more: the start window does not count that. */
const msInLine = (execution: Progress | undefined): number =>
  (execution?.visits ?? [])
    .filter(({ state }) => state === 'InLine')
    .reduce((sum, { enteredAt, leftAt = enteredAt }) => sum + Date.parse(leftAt) - Date.parse(enteredAt), 0);

const requestedWaits = (known: Open): string => {
  const { record, settings, execution, now, unread } = known;
  const current = execution === undefined ? undefined : currentVisit(execution);
  if (current?.state === 'InLine') return inLineWaits(current.enteredAt, known);
  const { requestedAt } = record;
  const waited = { waitedMs: msInLine(execution) };
  const { startWindow } = startWindowOf(waited, { requestedAt, isWaiting: false }, now, settings.timings);
  const windowEnd = due.start(requestedAt, { ...settings.timings, startWindow });
  if (now.toISOString() >= windowEnd) {
    return `Was not started by ${clockTime(windowEnd, now)}. It ends NOT_STARTED, by ${nextReconcile(record, now)} at the latest.`;
  }
  const otherwise = notStartedBy(windowEnd, now);
  if (isOfEarlierRecord(known)) {
    return `The execution of this id belongs to an earlier record, which was erased, so nothing starts this one. ${otherwise}`;
  }
  if (execution === undefined && !unread.has('execution')) {
    return `Has no execution, as intake stopped before it started one. A repeated request with the same idempotency key starts it. ${otherwise}`;
  }
  const hold = holdOf(record, known.holds);
  if (hold !== undefined) {
    return `${sentenceOf(hold, now)} The machine tries again meanwhile. ${otherwise}`;
  }
  if (execution?.end !== undefined) {
    return `Its execution has ${execution.end.how}, so nothing starts it. It ends NOT_STARTED, by ${nextReconcile(record, now)} at the latest.`;
  }
  const visit = execution === undefined ? undefined : currentVisit(execution);
  const failure = lastFailure(visit);
  if (visit === undefined || failure?.error === undefined) return `Waits for start-task. ${otherwise}`;
  const { notBefore } = record;
  const asked =
    notBefore === undefined || notBefore <= now.toISOString()
      ? ''
      : ` The provider asked for no call before ${clockTime(notBefore, now)}.`;
  return `Waits to be started: at try ${failure.number}, ${describeStartError({ error: failure.error, problem: failure.message })}.${asked} ${nextTry(visit, known)}. ${otherwise}`;
};

const startingWaits = (known: In<Starting>): string => {
  const { record, settings, now } = known;
  const claimed = clockTime(record.startingAt, now);
  const staleAt = clockTime(startUntil(record, settings.timings), now);
  const next = `the machine's next try or ${nextReconcile(record, now)}`;
  if (!isStartStale(record, now, settings.timings)) {
    return `Waits for the answer to the start call of ${claimed}. Without one by ${staleAt} the start is stale, and ${next} ends it UNCONFIRMED.`;
  }
  return `The start is stale since ${staleAt}: start-task has recorded no answer to its start call of ${claimed}. Now ${next} ends it UNCONFIRMED, as a task may exist.`;
};

const timedOutBy = ({ record, now }: Open): string =>
  `Without a final status by ${clockTime(record.deadlineAt, now)} it ends TIMED_OUT.`;

/** What keeps a reconcile from reading the provider, or delays it. */
const readsStopped = (known: Open): string => {
  const next = nextRead(known);
  if (next.kind === 'held') return ` ${sentenceOf(next.hold, known.now)} Meanwhile nothing is read.`;
  if (next.kind === 'never') return ` It is not read any more, as ${next.cause}.`;
  if (next.kind === 'asked') {
    return ` The provider asked for no call before ${clockTime(next.notBefore, known.now)}. Until then nothing is read.`;
  }
  return next.kind === 'made' && known.record.readsSlowly === true
    ? ' Its last read failed or took too long, so that the slow queue reads it, until a read is answered.'
    : '';
};

/** `Next, the reconcile after 12:16:00Z reads the provider.` Without a read that is known to be made, it says nothing of one. */
const nextStep = (known: Open): string => {
  const reads = nextRead(known).kind === 'made' ? 'reads the provider' : 'checks what is due';
  return `${nextReconcile(known.record, known.now)} ${reads}`;
};

/** A record whose time is over. If it can be read, it closes after one more read, which a pause holds for as long as it lasts. */
const closesLate = (known: Open, over: string): string => {
  const next = nextRead(known);
  if (next.kind === 'held') {
    return `${over} ${sentenceOf(next.hold, known.now)} Once they are resumed, it is read once more and closes.`;
  }
  const reads = next.kind === 'made' ? ' reads the provider once more, and' : '';
  return `${over} The next reconcile${reads} closes it.${readsStopped(known)}`;
};

const webhookWaitEnds = ({ record, settings }: Open, visit: StateVisit | undefined): string => {
  const attempt = visit?.attempts.at(-1);
  const since = attempt?.scheduledAt ?? record.startingAt ?? record.requestedAt;
  return plusSeconds(since, attempt?.timeoutSeconds ?? settings.webhookWait);
};

const describeTask = (known: In<Running>, waitEnd: string): string | undefined => {
  const { task, extractionId, now, unread, record } = known;
  const { taskId } = record;
  if (task?.extractionId !== undefined && task.extractionId !== extractionId) {
    return `The provider answered the start with task ${taskId}, which belongs to extraction ${task.extractionId}. The next reconcile ends this one ${nextStatus(known)}, and uses nothing of that task.`;
  }
  if (task?.taskStatus !== undefined) {
    const when = task.notifiedAt === undefined ? '' : ` at ${clockTime(task.notifiedAt, now)}`;
    return `A delivery reported ${task.taskStatus}${when}, and the record does not have it yet. The next delivery or reconcile settles it.`;
  }
  const isOver = isReadTimeOver(record, now, known.settings.timings);
  if (unread.has('task') || task?.extractionId !== undefined || isOver) return undefined;
  return `Task ${taskId} runs and is not linked to this extraction yet, so no webhook would find it. The machine's next try links it, or its first poll after ${clockTime(waitEnd, now)}. ${timedOutBy(known)}`;
};

const polls = (known: Open, visit: StateVisit): string => {
  const { now, settings, record } = known;
  const failure = visit.attempts.findLast(({ error }) => error !== undefined);
  const nextAt = failure === undefined ? undefined : nextAttemptAt(visit, failure, settings);
  const made = visit.attempts.length;
  const count = `${made} ${made === 1 ? 'poll' : 'polls'} so far`;
  const next = nextAt === undefined ? '' : `, the next by ${clockTime(nextAt, now)}`;
  const missed =
    webhookCame(known) === false && known.refusedDeliveries === 0
      ? 'The webhook did not come'
      : 'No webhook had ended its wait';
  const explanation = hasWebhook(record)
    ? `${missed} by ${clockTime(visit.enteredAt, now)}, so the machine polls`
    : `The machine polls, as ${whyPolled(record)}`;
  const polled = nextRead(known).kind === 'never' ? '' : `: ${count}${next}`;
  return `${explanation}${polled}. ${timedOutBy(known)}${readsStopped(known)}`;
};

const runningWaits = (known: In<Running>): string => {
  const { record, settings, execution, now } = known;
  const deadline = clockTime(record.deadlineAt, now);
  const visit = execution === undefined ? undefined : currentVisit(execution);
  const waitEnd = webhookWaitEnds(known, visit);
  const task = hasTaskItem(record) ? describeTask(known, waitEnd) : undefined;
  if (task !== undefined) return task;
  if (isReadTimeOver(record, now, settings.timings)) {
    const reads = nextRead(known).kind === 'made' ? ' reads it once more, and' : '';
    const running = reads === '' ? '' : ' if it still runs';
    return `No final status is known by the deadline, ${deadline}. The next reconcile${reads} ends it TIMED_OUT${running}.${readsStopped(known)}`;
  }
  if (record.oversizedAt !== undefined) {
    return `The results were too large to be read at ${clockTime(record.oversizedAt, now)}, and with them the final status.${hasWebhook(record) ? ' Only a webhook can still report it.' : ''} ${timedOutBy(known)}`;
  }
  if (visit?.state.startsWith('Reconcile')) return polls(known, visit);
  if (execution?.end !== undefined) {
    const waits = hasWebhook(record)
      ? `Waits for the webhook. No machine polls, as its execution has ${execution.end.how}.`
      : `The reconcile queue continues, as ${whyPolled(record)}.`;
    return `${waits} Next, ${nextStep(known)}. ${timedOutBy(known)}${readsStopped(known)}`;
  }
  if (!hasWebhook(record)) {
    const polled = nextRead(known).kind === 'made' ? ', and is polled' : '';
    return `Runs at the provider${polled}. ${timedOutBy(known)}${readsStopped(known)}`;
  }
  const every = formatSeconds(settings.poll.every);
  return `Waits for the provider's webhook until ${clockTime(waitEnd, now)}; then the machine polls every ${every} until ${deadline}.`;
};

const collectionWaits = (known: In<Collecting>): string => {
  const { record, settings, now } = known;
  const until = clockTime(readUntil(record, settings.timings), now);
  const failure = known.logs.findLast(
    ({ at, level, service }) => at >= record.settledAt && level === 'ERROR' && service !== 'receive-webhook',
  );
  const last =
    failure === undefined
      ? ''
      : ` The last try failed at ${clockTime(failure.at, now)}: ${bounded(failure.message)}`;
  const head = `Its results are not collected yet.${last}`;
  if (isReadTimeOver(record, now, settings.timings)) {
    return closesLate(known, `${head} The time for collecting them ended at ${until}.`);
  }
  if (record.oversizedAt !== undefined) {
    return `${head} They were too large to be read, so ${nextReconcile(record, now)} closes it without them.`;
  }
  const next = nextRead(known).kind;
  if (next === 'never') return `${head} At ${until} it closes without them.${readsStopped(known)}`;
  const again = next === 'made' ? 'read again' : 'collected';
  return `${head} They are ${again} until ${until}, next by ${nextReconcile(record, now)}; then it closes without them.${readsStopped(known)}`;
};

const graceWaits = (known: In<Grace>): string => {
  const { record, settings, now } = known;
  const until = clockTime(readUntil(record, settings.timings), now);
  if (isReadTimeOver(record, now, settings.timings)) return closesLate(known, `Its grace ended at ${until}.`);
  const isRead = nextRead(known).kind !== 'never';
  const by = [...(hasWebhook(record) ? ['a webhook'] : []), ...(isRead ? ['a read'] : [])].join(' or ');
  if (by === '') return `At ${until} it closes.${readsStopped(known)}`;
  const next = isRead ? `; next, ${nextStep(known)}` : '';
  return `Until ${until} ${by} can still correct it${next}.${readsStopped(known)}`;
};

/** What an open extraction waits for. The outcome of one that has ended is not part of it. */
export const waitsFor = (known: Open): string => {
  const { status, schemaVersion } = known.record;
  if (!isUnderstood(known.record)) {
    return `A newer version has written this record, with the status ${status} and schemaVersion ${schemaVersion}. This version only defers it, until the newer one is deployed again.`;
  }
  const record = phaseOf(known.record);
  switch (record.phase) {
    case 'requested':
      return requestedWaits(known);
    case 'starting':
      return startingWaits({ ...known, record });
    case 'running':
      return runningWaits({ ...known, record });
    case 'grace':
      return graceWaits({ ...known, record });
    case 'collecting':
      return collectionWaits({ ...known, record });
    default: {
      const ended = nextStatus(known);
      const how = ended === undefined ? 'closes it' : `ends it ${ended}`;
      return `The record lacks what an open one in its status has. So ${nextReconcile(record, known.now)} ${how}.`;
    }
  }
};
