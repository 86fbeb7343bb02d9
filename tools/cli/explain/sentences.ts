import { advices } from '../../../lib/extraction/advice.ts';
import { isErrorName, isPublicCode, meaningOf } from '../../../lib/extraction/causes.ts';
import type { CommandText } from '../terminal/command-text.ts';
import { describeHold } from '../terminal/describe-hold.ts';
import { describeCode, describeStartError, explainActions } from '../terminal/extraction-failures.ts';
import { formatSeconds } from '../terminal/format-seconds.ts';
import { plural } from '../terminal/plural.ts';
import { bounded, clockTime } from './bounded-text.ts';
import type { Hold } from './sources.ts';
import type { FactName, FactOf, ReportedBy, StoryFact } from './story-facts.ts';

/** For whom a sentence is: when it is read, and how a command is printed there. */
type Reader = { readonly extractionId: string; readonly now: Date; readonly command: CommandText };

/** `Starts have been paused since 11:50:00Z by ana: maintenance.` */
export const sentenceOfHold = (hold: Hold, now: Date): string => {
  const text = describeHold(hold, {
    since: (at) => `since ${clockTime(at, now)}`,
    next: (at) => `at ${clockTime(at, now)}`,
  }).join('');
  return bounded(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
};

const statusMeanings: Readonly<Record<string, string>> = {
  PARTIAL: 'some of its actions failed',
  CREDENTIALS_WRONG: 'the bank did not accept the credentials',
  CREDENTIALS_LOCKED: 'the bank has locked the credentials',
};

const underConsent = 'there is no webhook under a consent';
const sendsNone = 'the provider sends no webhooks';

const reports: Readonly<Record<ReportedBy, (deliveredAt: string) => string>> = {
  'consent-poll': () => `found by polling, as ${underConsent}`,
  'silent-provider-poll': () => `found by polling, as ${sendsNone}`,
  webhook: () => 'reported by the webhook',
  'early-webhook': () => 'reported by a webhook that came before the start was recorded',
  'stored-webhook': (at) => `recorded by a reconcile, as the webhook of ${at} was not recorded at once`,
  poll: () => 'found by polling',
  'poll-without-webhook': () => 'found by polling: no webhook was recorded',
  'poll-with-refused': () => 'found by polling: no webhook was accepted',
  'poll-before-webhook': (at) => `found by polling: the webhook came only at ${at}`,
};

const notStartedReasons: Readonly<Record<string, string>> = {
  stopped: 'somebody stopped its execution',
  'start-abandoned': meaningOf('start-abandoned'),
  'start-window-over': 'the start window was over',
  'request-data-gone': 'the sealed data of its request were gone, without which nothing can be started',
  cancelled: meaningOf('cancelled'),
  erased: meaningOf('erased'),
};

/** Why no final status was known. Undefined where there is nothing to add. */
const noFinalStatus = (why: string | undefined): string | undefined => {
  if (why === undefined) return undefined;
  if (why === 'reads-paused' || why === 'not-before') return meaningOf(why);
  return isErrorName(why) ? `the last read failed with ${why}` : describeCode(why);
};

const startCallOf = (startingAt: string | undefined, now: Date): string =>
  startingAt === undefined ? 'the start call' : `the start call of ${clockTime(startingAt, now)}`;

const reconcileAfter = (after: string, now: Date): string => `the reconcile after ${clockTime(after, now)}`;

const readsOrChecks = (isRead: boolean): string => (isRead ? 'reads the provider' : 'checks what is due');

/** One sentence for each fact. */
const sentences: { readonly [Name in FactName]: (fact: FactOf<Name>, reader: Reader) => string } = {
  recordUnread: () => 'The record could not be read.',
  unknownWhether: () =>
    'There is no record. It never existed, was erased, or its retention is over: its execution, which could not be read, would show which.',
  erased: ({ at }, { now }) => `The record was erased at ${clockTime(at, now)}.`,
  gone: () => 'There is no record: it was erased, or its retention is over.',
  goneExecution: ({ startedAt }, { now }) => `Its execution started at ${clockTime(startedAt, now)}.`,

  overdue: ({ since, isLate, isSweepOn }, { now, command, extractionId }) => {
    const due = `${isLate ? 'Overdue' : 'Due'} since ${clockTime(since, now)}`;
    return isSweepOn
      ? `${due}, although the sweep is enabled. \`${command('doctor')}\` shows why.`
      : `${due}, as the sweep is disabled. Enable its rule, or run \`${command('reconcile', extractionId)}\`.`;
  },
  sweepOff: () => 'The sweep is disabled: if nothing else ends it, it stays open.',

  settled: ({ status, at, reason, by, deliveredAt = '' }, { now }) => {
    const meaning = statusMeanings[status];
    const explained = [
      ...(meaning === undefined ? [] : [meaning]),
      ...(reason === undefined ? [] : [`the provider's error is ${reason}`]),
    ].join('; ');
    const why = explained === '' ? '' : ` (${explained})`;
    return `${status} at ${clockTime(at, now)}${why}, ${reports[by](clockTime(deliveredAt, now))}.`;
  },
  actionsFailed: ({ actions, code }) => explainActions(actions, code),
  codesFollow: () => 'The error codes come with its results.',
  noCodes: () => 'Its results name no error code of an action.',
  corrected: ({ deadline }, { now }) =>
    `This is a correction: it replaced TIMED_OUT, as the deadline was ${clockTime(deadline, now)}.`,
  settledLate: ({ deadline }, { now }) =>
    `That was after the deadline, ${clockTime(deadline, now)}, so it may have replaced TIMED_OUT.`,
  rejected: ({ at, reason }, { now }) => `REJECTED at ${clockTime(at, now)}: ${describeCode(reason)}.`,
  othersTaskAnswered: ({ at, startingAt, taskId, owner }, { now }) => {
    const whose = owner === undefined ? 'another extraction' : `extraction ${owner}`;
    return `UNCONFIRMED at ${clockTime(at, now)}: the provider answered ${startCallOf(startingAt, now)} with task ${taskId}, which belongs to ${whose}. Nothing of that task was used. Report it to the provider, as it may be a leak.`;
  },
  restoredUnconfirmed: ({ at }, { now }) =>
    `UNCONFIRMED at ${clockTime(at, now)}: it was restored from a backup in which its start was not confirmed. It may have been started since, so it is never started again.`,
  startInterrupted: ({ at, startingAt, loggedTaskId }, { now }) => {
    const logged =
      loggedTaskId === undefined
        ? ''
        : ` The log of start-task names task ${loggedTaskId}, which the record does not have.`;
    return `UNCONFIRMED at ${clockTime(at, now)}: start-task ended between ${startCallOf(startingAt, now)} and the record of its answer, so a task may exist.${logged} It is never sent again.`;
  },
  startUnanswered: ({ at, startingAt, reason }, { now }) => {
    const why = reason === undefined ? '' : `: ${describeCode(reason)}`;
    return `UNCONFIRMED at ${clockTime(at, now)}: ${startCallOf(startingAt, now)} got no usable answer${why}. So a task may exist, and it is never sent again.`;
  },
  notStarted: ({ at, reason }, { now }) =>
    `NOT_STARTED at ${clockTime(at, now)}: ${notStartedReasons[reason] ?? `its reason is ${reason}`}.`,
  lastTry: ({ number, at, error, problem }, { now }) =>
    `At the last try, number ${number} at ${clockTime(at, now)}, ${describeStartError({ error, problem })}.`,
  notAccepted: ({ problem }) => `It was not accepted: ${describeCode(problem)}.`,
  nothingRan: () => 'Nothing ran.',
  timedOut: ({ at, deadline, why }, { now }) => {
    const explained = noFinalStatus(why);
    return `TIMED_OUT at ${clockTime(at, now)}: no final status was known by the deadline, ${clockTime(deadline, now)}${explained === undefined ? '' : `: ${explained}`}.`;
  },
  notCollected: ({ error }) => {
    const why = isPublicCode(error) ? describeCode(error) : 'the last read failed';
    return `Its results were not collected (${error}): ${why}.`;
  },
  noResults: () => 'The provider has no results for it.',
  collected: ({ at, bytes }, { now }) =>
    `Its results, ${bytes} bytes, were collected at ${clockTime(at, now)}.`,
  advised: ({ advice }) => advices[advice],
  refusedMeanwhile: ({ count }) =>
    `${plural(count, 'delivery was', 'deliveries were')} refused in this time, as no key fits: of which task is not known.`,

  settingsUnread: ({ status }) =>
    `It is ${status} and open. What happens next depends on the settings, which could not be read.`,
  ofNewerVersion: ({ status, schemaVersion }) =>
    `A newer version has written this record, with the status ${status} and schemaVersion ${schemaVersion}. This version only defers it, until the newer one is deployed again.`,
  lacking: ({ endsAs, after }, { now }) =>
    `The record lacks what an open one in its status has. So ${reconcileAfter(after, now)} ${endsAs === undefined ? 'closes it' : `ends it ${endsAs}`}.`,
  held: ({ hold }, { now }) => sentenceOfHold(hold, now),

  inLine: ({ since }, { now }) =>
    `Waits in line for the rate of the provider since ${clockTime(since, now)}.`,
  startExpected: ({ at }, { now }) => `It will be started at about ${clockTime(at, now)}.`,
  maxWait: ({ seconds }) =>
    `If it waits for longer than ${formatSeconds(seconds)}, it ends NOT_STARTED, and may be requested again.`,
  notStartedBy: ({ windowEnd }, { now }) => `Was not started by ${clockTime(windowEnd, now)}.`,
  endsNotStarted: ({ after }, { now }) =>
    `It ends NOT_STARTED, by ${reconcileAfter(after, now)} at the latest.`,
  endsWithoutStart: ({ windowEnd }, { now }) =>
    `Without a start by ${clockTime(windowEnd, now)} it ends NOT_STARTED, and may be requested again.`,
  executionOfEarlier: () =>
    'The execution of this id belongs to an earlier record, which was erased, so nothing starts this one.',
  noExecution: () =>
    'Has no execution, as intake stopped before it started one. A repeated request with the same idempotency key starts it.',
  triesMeanwhile: () => 'The machine tries again meanwhile.',
  executionOver: ({ how }) => `Its execution has ${how}, so nothing starts it.`,
  waitsForStart: () => 'Waits for start-task.',
  startFailed: ({ number, error, problem }) =>
    `Waits to be started: at try ${number}, ${describeStartError({ error, problem })}.`,
  noCallBefore: ({ notBefore }, { now }) =>
    `The provider asked for no call before ${clockTime(notBefore, now)}.`,
  triesNow: ({ number, since }, { now }) => `Try ${number} began at ${clockTime(since, now)}.`,
  triesAgain: ({ by }, { now }) =>
    `The machine tries again${by === undefined ? '' : ` by ${clockTime(by, now)}`}.`,

  startCalled: ({ at, staleAt, after }, { now }) =>
    `Waits for the answer to the start call of ${clockTime(at, now)}. Without one by ${clockTime(staleAt, now)} the start is stale, and the machine's next try or ${reconcileAfter(after, now)} ends it UNCONFIRMED.`,
  startStale: ({ at, staleAt, after }, { now }) =>
    `The start is stale since ${clockTime(staleAt, now)}: start-task has recorded no answer to its start call of ${clockTime(at, now)}. Now the machine's next try or ${reconcileAfter(after, now)} ends it UNCONFIRMED, as a task may exist.`,

  othersTask: ({ taskId, owner, endsAs }) =>
    `The provider answered the start with task ${taskId}, which belongs to extraction ${owner}. The next reconcile ends this one ${endsAs}, and uses nothing of that task.`,
  unrecordedDelivery: ({ taskStatus, at }, { now }) =>
    `A delivery reported ${taskStatus}${at === undefined ? '' : ` at ${clockTime(at, now)}`}, and the record does not have it yet. The next delivery or reconcile settles it.`,
  unlinked: ({ taskId, waitEnd }, { now }) =>
    `Task ${taskId} runs and is not linked to this extraction yet, so no webhook would find it. The machine's next try links it, or its first poll after ${clockTime(waitEnd, now)}.`,
  timesOut: ({ deadline }, { now }) =>
    `Without a final status by ${clockTime(deadline, now)} it ends TIMED_OUT.`,
  deadlineOver: ({ deadline, isRead }, { now }) => {
    const [reads, running] = isRead ? [' reads it once more, and', ' if it still runs'] : ['', ''];
    return `No final status is known by the deadline, ${clockTime(deadline, now)}. The next reconcile${reads} ends it TIMED_OUT${running}.`;
  },
  statusTooLarge: ({ at, hasWebhook }, { now }) =>
    `The results were too large to be read at ${clockTime(at, now)}, and with them the final status.${hasWebhook ? ' Only a webhook can still report it.' : ''}`,
  polls: ({ why, since, count, nextBy }, { now }) => {
    const by = clockTime(since, now);
    const head = {
      consent: `The machine polls, as ${underConsent}`,
      'silent-provider': `The machine polls, as ${sendsNone}`,
      'webhook-missing': `No webhook was recorded by ${by}, so the machine polls`,
      'wait-over': `No webhook had ended its wait by ${by}, so the machine polls`,
    }[why];
    if (count === undefined) return `${head}.`;
    const next = nextBy === undefined ? '' : `, the next by ${clockTime(nextBy, now)}`;
    return `${head}: ${plural(count, 'poll')} so far${next}.`;
  },
  waitsForWebhook: ({ until, pollEvery, deadline }, { now }) =>
    `Waits for the provider's webhook until ${clockTime(until, now)}; then the machine polls every ${formatSeconds(pollEvery)} until ${clockTime(deadline, now)}.`,
  waitsWithoutMachine: ({ how }) => `Waits for the webhook. No machine polls, as its execution has ${how}.`,
  queueContinues: ({ why }) =>
    `The reconcile queue continues, as ${why === 'consent' ? underConsent : sendsNone}.`,
  atProvider: ({ isPolled }) => `Runs at the provider${isPolled ? ', and is polled' : ''}.`,

  nextReconcile: ({ after, isRead }, { now }) =>
    `Next, ${reconcileAfter(after, now)} ${readsOrChecks(isRead)}.`,
  nothingRead: () => 'Meanwhile nothing is read.',
  neverRead: () => 'It is not read any more, as the sealed data of its request are gone.',
  readSkipped: () => 'The next reconcile does not read it, as the process of its last read ended.',
  noReadBefore: ({ notBefore }, { now }) =>
    `The provider asked for no call before ${clockTime(notBefore, now)}. Until then nothing is read.`,
  readsSlowly: () =>
    'Its last read failed or took too long, so that the slow queue reads it, until a read is answered.',

  uncollected: () => 'Its results are not collected yet.',
  lastTryFailed: ({ at, message }, { now }) =>
    `The last try failed at ${clockTime(at, now)}: ${bounded(message)}`,
  timeOver: ({ of, at }, { now }) =>
    `${of === 'grace' ? 'Its grace' : 'The time for collecting them'} ended at ${clockTime(at, now)}.`,
  closesNext: ({ isRead }) =>
    `The next reconcile${isRead ? ' reads the provider once more, and' : ''} closes it.`,
  closesOnceResumed: () => 'Once they are resumed, it is read once more and closes.',
  closesTooLarge: ({ after }, { now }) =>
    `They were too large to be read, so ${reconcileAfter(after, now)} closes it without them.`,
  closesWithoutResults: ({ at }, { now }) => `At ${clockTime(at, now)} it closes without them.`,
  collectedUntil: ({ until, after, isRead }, { now }) =>
    `They are ${isRead ? 'read again' : 'collected'} until ${clockTime(until, now)}, next by ${reconcileAfter(after, now)}; then it closes without them.`,
  correctedUntil: ({ until, byWebhook, byRead }, { now }) => {
    const by = [...(byWebhook ? ['a webhook'] : []), ...(byRead ? ['a read'] : [])].join(' or ');
    return `Until ${clockTime(until, now)} ${by} can still correct it.`;
  },
  closes: ({ at }, { now }) => `At ${clockTime(at, now)} it closes.`,
};

/** The sentence of one fact. */
export const sentenceOf = (stated: StoryFact, reader: Reader): string =>
  (sentences[stated.fact] as (fact: StoryFact, reader: Reader) => string)(stated, reader);
