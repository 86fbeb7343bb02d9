import { adviceOf } from '../../../lib/extraction/advice.ts';
import { isPublicCode } from '../../../lib/extraction/causes.ts';
import { type Extraction, hasWebhook, isTerminalStatus } from '../../../lib/extraction/record.ts';
import { logMessages } from '../../../lib/observability/log-messages.ts';
import { describeCode, failedActions, knownStartError } from '../terminal/extraction-failures.ts';
import { lastFailure } from './execution-progress.ts';
import type { Known } from './gather.ts';
import type { ReportedBy, StoryFact } from './story-facts.ts';

type Ended = Known & { readonly record: Extraction };

/** Whether a delivery was stored. Its item in `Tasks` shows it, until an erasure or TTL, after 30 days. Undefined: nothing shows it. */
export const webhookCame = ({ task }: Known): boolean | undefined =>
  task === undefined || task.isErased === true ? undefined : task.notifiedAt !== undefined;

/** Whether `TIMED_OUT` was replaced, as far as the logs show it. */
const isCorrected = ({ logs }: Known): boolean => logs.some(({ fields }) => fields.metric === 'Corrected');

const reportedBy = (known: Ended): ReportedBy => {
  const { record, task } = known;
  const { settledBy, settledAt = '' } = record;
  if (!hasWebhook(record)) return record.method === 'consent' ? 'consent-poll' : 'silent-provider-poll';
  if (settledBy === 'webhook') return 'webhook';
  if (settledBy === 'start') return 'early-webhook';
  if (task?.notifiedAt !== undefined) {
    return task.notifiedAt > settledAt ? 'poll-before-webhook' : 'stored-webhook';
  }
  if (webhookCame(known) !== false) return 'poll';
  return known.refusedDeliveries === 0 ? 'poll-without-webhook' : 'poll-with-refused';
};

/** Why actions failed. Their error codes come with the results, and some results have none that could be read. */
const failureFacts = ({ record }: Ended): readonly StoryFact[] => {
  const { status, method, actionResults, dueShard, collectionError } = record;
  if (method === 'consent' || (status !== 'FAILED' && status !== 'PARTIAL')) return [];
  const failed = failedActions(record);
  if (failed.length > 0) return failed.map((of) => ({ fact: 'actionsFailed', ...of }));
  if (actionResults === undefined && dueShard !== undefined) return [{ fact: 'codesFollow' }];
  return collectionError === undefined ? [{ fact: 'noCodes' }] : [];
};

const finalFacts = (known: Ended): readonly StoryFact[] => {
  const { record, task } = known;
  const { status, settledAt: at = '', deadlineAt: deadline, reason } = record;
  const settled = { fact: 'settled', status, at, reason, by: reportedBy(known) } as const;
  const facts = [{ ...settled, deliveredAt: task?.notifiedAt }, ...failureFacts(known)];
  if (isCorrected(known)) return [...facts, { fact: 'corrected', deadline }];
  return at <= deadline ? facts : [...facts, { fact: 'settledLate', deadline }];
};

/** A task that only the log has: start-task received it, and ended before it was recorded. */
const loggedTask = ({ logs, record }: Ended): string | undefined => {
  const accepted = logs.find(
    ({ service, fields }) => service === 'start-task' && typeof fields.taskId === 'string',
  )?.fields.taskId;
  return record.taskId === undefined && accepted !== undefined ? String(accepted) : undefined;
};

const unconfirmedFact = (known: Ended): StoryFact => {
  const { record, task, extractionId } = known;
  const { settledAt: at = '', reason, taskId = '', startingAt } = record;
  if (reason === 'task-linked-elsewhere') {
    const owner = task?.extractionId === extractionId ? undefined : task?.extractionId;
    return { fact: 'othersTaskAnswered', at, startingAt, taskId, owner };
  }
  if (reason === 'restored') return { fact: 'restoredUnconfirmed', at };
  return reason === 'start-interrupted'
    ? { fact: 'startInterrupted', at, startingAt, loggedTaskId: loggedTask(known) }
    : { fact: 'startUnanswered', at, startingAt, reason };
};

const notStartedFacts = ({ record, execution }: Ended): readonly StoryFact[] => {
  const { settledAt: at = '', reason = '', lastProblem } = record;
  const last = lastFailure(execution?.visits.find(({ state }) => state === 'StartTask'));
  const { error, message: problem } = last ?? {};
  const tried: readonly StoryFact[] =
    last === undefined || error === undefined
      ? []
      : [{ fact: 'lastTry', number: last.number, at: last.scheduledAt, error, problem }];
  const isStopped = reason === 'start-abandoned' && execution?.end?.how === 'aborted';
  const said = error === undefined ? undefined : knownStartError({ error, problem });
  const isNew = lastProblem !== undefined && lastProblem !== reason && describeCode(lastProblem) !== said;
  return [
    { fact: 'notStarted', at, reason: isStopped ? 'stopped' : reason },
    ...tried,
    ...(isNew ? [{ fact: 'notAccepted', problem: lastProblem } as const] : []),
    { fact: 'nothingRan' },
  ];
};

/** Why no final status was known by the deadline: as the record has it, or else the log of the process that recorded it. */
const whyTimedOut = ({ record, logs }: Ended): string | undefined => {
  if (record.lastProblem !== undefined) return record.lastProblem;
  const logged = logs
    .filter(({ at, fields }) => fields.status === 'TIMED_OUT' && at >= (record.settledAt ?? ''))
    .map(({ fields }) => fields.explanation)
    .find((text) => typeof text === 'string');
  const why = record.collectionError ?? (typeof logged === 'string' ? logged : undefined);
  // Any other code is of the collection, and has a sentence of its own.
  return why === 'still-running' || !isPublicCode(why ?? '') ? why : undefined;
};

const ownFacts = (known: Ended): readonly StoryFact[] => {
  const { status, settledAt: at = '', deadlineAt: deadline, reason = '' } = known.record;
  if (status === 'REJECTED') return [{ fact: 'rejected', at, reason }, { fact: 'nothingRan' }];
  if (status === 'UNCONFIRMED') return [unconfirmedFact(known)];
  if (status === 'NOT_STARTED') return notStartedFacts(known);
  return [{ fact: 'timedOut', at, deadline, why: whyTimedOut(known) }];
};

const collectionFacts = ({ record }: Ended): readonly StoryFact[] => {
  const { results, collectedAt: at, collectionError: error } = record;
  if (error !== undefined) return [{ fact: 'notCollected', error }];
  if (at === undefined) return [];
  return results === undefined ? [{ fact: 'noResults' }] : [{ fact: 'collected', at, bytes: results.bytes }];
};

/** Why it ended so. `record` has an outcome, and may still be open for collecting or for a correction. */
export const outcomeFacts = (known: Ended): readonly StoryFact[] => {
  const { record } = known;
  const advice = adviceOf(record);
  return [
    ...(isTerminalStatus(record.status) ? finalFacts(known) : ownFacts(known)),
    ...collectionFacts(known),
    // What an open record waits for follows.
    ...(advice === undefined || advice === 'none' || advice === 'wait'
      ? []
      : [{ fact: 'advised', advice } as const]),
  ];
};

/** Whether it may never have existed: there is no record, and the execution, which would show it, could not be read. */
export const isUncertain = ({ record, unread }: Known): boolean =>
  record === undefined && unread.has('execution');

/** What is known where there is no record. */
export const goneFacts = (known: Known): readonly StoryFact[] => {
  if (isUncertain(known)) return [{ fact: 'unknownWhether' }];
  const erased = known.logs.findLast(({ message }) => message === logMessages.erased);
  if (erased !== undefined) return [{ fact: 'erased', at: erased.at }];
  const startedAt = known.execution?.startedAt;
  return [
    { fact: 'gone' },
    ...(startedAt === undefined ? [] : [{ fact: 'goneExecution', startedAt } as const]),
  ];
};
