import { adviceOf, advices } from '../../../lib/extraction/advice.ts';
import { codes } from '../../../lib/extraction/codes.ts';
import { type Extraction, hasWebhook, isTerminalStatus } from '../../../lib/extraction/record.ts';
import { logMessages } from '../../../lib/observability/log-messages.ts';
import { describeCode, describeStartError, explainFailures } from '../terminal/extraction-failures.ts';
import { clockTime, whyPolled } from './bounded-text.ts';
import { webhookCame, whyTimedOut } from './derived-facts.ts';
import { lastFailure } from './execution-progress.ts';
import type { Known } from './gather.ts';
import type { LogLine } from './sources.ts';

type Ended = Known & { readonly record: Extraction };

const metricLine = ({ logs }: Known, metric: string): LogLine | undefined =>
  logs.find(({ fields }) => fields.metric === metric);

/** When `TIMED_OUT` was replaced; undefined if the logs do not show it. */
const correctedAt = (known: Known): string | undefined => metricLine(known, 'Corrected')?.at;

const reportedBy = (known: Ended): string => {
  const { record, task, now } = known;
  const { settledBy, settledAt = '' } = record;
  if (!hasWebhook(record)) return `found by polling, as ${whyPolled(record)}`;
  if (settledBy === 'webhook') return 'reported by the webhook';
  if (settledBy === 'start') return 'reported by a webhook that came before the start was recorded';
  const { notifiedAt } = task ?? {};
  if (notifiedAt === undefined) {
    if (webhookCame(known) !== false) return 'found by polling';
    return `found by polling: no webhook ${known.refusedDeliveries === 0 ? 'came' : 'was accepted'}`;
  }
  return notifiedAt > settledAt
    ? `found by polling: the webhook came only at ${clockTime(notifiedAt, now)}`
    : `from a webhook of ${clockTime(notifiedAt, now)} that could not be recorded at once`;
};

const collection = ({ record, now }: Ended): string => {
  const { results, collectedAt, collectionError } = record;
  if (collectionError !== undefined) {
    const explanation = Object.hasOwn(codes, collectionError)
      ? describeCode(collectionError)
      : 'the last read failed';
    return ` Its results were not collected (${collectionError}): ${explanation}.`;
  }
  if (collectedAt === undefined) return '';
  const when = clockTime(collectedAt, now);
  return results === undefined
    ? ' The provider has no results for it.'
    : ` Its results, ${results.bytes} bytes, were collected at ${when}.`;
};

/** Why actions failed. Their error codes come with the results, and some results have none that could be read. */
const failures = ({ record }: Ended): string => {
  const { status, method, actionResults, dueShard, collectionError } = record;
  if (method === 'consent' || (status !== 'FAILED' && status !== 'PARTIAL')) return '';
  const explained = explainFailures(record);
  if (explained.length > 0) return ` ${explained.join(' ')}`;
  if (actionResults === undefined && dueShard !== undefined) return ' The error codes come with its results.';
  return collectionError === undefined ? ' Its results name no error code of an action.' : '';
};

const statusMeanings: Readonly<Record<string, string>> = {
  PARTIAL: 'some of its actions failed',
  CREDENTIALS_WRONG: 'the bank did not accept the credentials',
  CREDENTIALS_LOCKED: 'the bank has locked the credentials',
};

const finalOutcome = (known: Ended): string => {
  const { record, now } = known;
  const { status, settledAt = '', deadlineAt, reason } = record;
  const meaning = statusMeanings[status];
  const explanation = [
    ...(meaning === undefined ? [] : [meaning]),
    ...(reason === undefined ? [] : [`the provider's error is ${reason}`]),
  ].join('; ');
  const head = `${status} at ${clockTime(settledAt, now)}${explanation === '' ? '' : ` (${explanation})`}, ${reportedBy(known)}.${failures(known)}`;
  if (correctedAt(known) !== undefined) {
    return `${head} This is a correction: it replaced TIMED_OUT, as the deadline was ${clockTime(deadlineAt, now)}.`;
  }
  if (settledAt <= deadlineAt) return head;
  return `${head} That was after the deadline, ${clockTime(deadlineAt, now)}, so it may have replaced TIMED_OUT.`;
};

/** A taskId that only the log has: start-task received it, and ended before it was recorded. */
const taskInLog = ({ logs, record }: Ended): string => {
  const accepted = logs.find(
    ({ service, fields }) => service === 'start-task' && typeof fields.taskId === 'string',
  )?.fields.taskId;
  return record.taskId === undefined && accepted !== undefined
    ? ` The log of start-task names task ${String(accepted)}, which the record does not have.`
    : '';
};

const unconfirmed = (known: Ended): string => {
  const { record, task, extractionId, now } = known;
  const { reason, taskId = '', startingAt } = record;
  const call =
    startingAt === undefined ? 'the start call' : `the start call of ${clockTime(startingAt, now)}`;
  if (reason === 'task-linked-elsewhere') {
    const owner =
      task?.extractionId === undefined || task.extractionId === extractionId
        ? 'another extraction'
        : `extraction ${task.extractionId}`;
    return `the provider answered ${call} with task ${taskId}, which belongs to ${owner}. Nothing of that task was used. Report it to the provider, as it may be a leak.`;
  }
  if (reason === 'restored') {
    return 'it was restored from a backup in which its start was not confirmed. It may have been started since, so it is never started again.';
  }
  if (reason === 'start-interrupted') {
    return `start-task ended between ${call} and the record of its answer, so a task may exist.${taskInLog(known)} It is never sent again.`;
  }
  const explanation = reason === undefined ? '' : `: ${describeCode(reason)}`;
  return `${call} got no usable answer${explanation}. So a task may exist, and it is never sent again.`;
};

const notStartedReasons: Readonly<Record<string, string>> = {
  'start-abandoned': 'the machine abandoned the start, or was stopped',
  'start-window-over': 'the start window was over',
  'request-data-gone': 'the sealed data of its request were gone, without which nothing can be started',
  cancelled: codes.cancelled,
  erased: codes.erased,
};

/** Why no final status was known. Undefined where the log of the last read is not there. */
const noFinalStatus = (explanation: string | undefined): string | undefined => {
  if (explanation === undefined) return undefined;
  if (explanation === 'still-running') return 'the provider reported that it still ran';
  if (explanation === 'ProviderPaused')
    return 'no read was made, as reads were paused or the provider had asked to wait';
  return Object.hasOwn(codes, explanation) ? undefined : `the last read failed with ${explanation}`;
};

const notStarted = ({ record, execution, now }: Ended): string => {
  const start = execution?.visits.find(({ state }) => state === 'StartTask');
  const failure = lastFailure(start);
  const described =
    failure?.error === undefined
      ? undefined
      : describeStartError({ error: failure.error, problem: failure.message });
  const last =
    described === undefined
      ? ''
      : ` At the last try, number ${failure?.number} at ${clockTime(failure?.scheduledAt ?? '', now)}, ${described}.`;
  const { reason = '', lastProblem } = record;
  const problem = lastProblem === undefined ? undefined : describeCode(lastProblem);
  const end = execution?.end?.how;
  const explanation =
    reason === 'start-abandoned' && end === 'aborted'
      ? 'somebody stopped its execution'
      : (notStartedReasons[reason] ?? `its reason is ${reason}`);
  const cause =
    lastProblem === reason || problem === undefined || problem === described
      ? ''
      : ` It was not accepted: ${problem}.`;
  return `${explanation}.${last}${cause} Nothing ran.`;
};

const ownOutcome = (known: Ended): string => {
  const { record, now } = known;
  const { status, settledAt = '' } = record;
  const head = `${status} at ${clockTime(settledAt, now)}: `;
  if (status === 'REJECTED') return `${head}${describeCode(record.reason ?? '')}. Nothing ran.`;
  if (status === 'UNCONFIRMED') return `${head}${unconfirmed(known)}`;
  if (status === 'NOT_STARTED') return `${head}${notStarted(known)}`;
  const { lastProblem } = record;
  const explanation =
    lastProblem === undefined ? noFinalStatus(whyTimedOut(known)) : describeCode(lastProblem);
  return `${head}no final status was known by the deadline, ${clockTime(record.deadlineAt, now)}${explanation === undefined ? '' : `: ${explanation}`}.`;
};

/** Why it ended so. `record` has an outcome, and may still be open for collecting or for a correction. */
export const explainOutcome = (known: Ended): string => {
  const { record } = known;
  const explanation = isTerminalStatus(record.status) ? finalOutcome(known) : ownOutcome(known);
  const advice = adviceOf(record);
  // What an open record waits for follows.
  const next = advice === undefined || advice === 'none' || advice === 'wait' ? '' : ` ${advices[advice]}`;
  return `${explanation}${collection(known)}${next}`;
};

/** Whether it may never have existed: there is no record, and the execution, which would show it, could not be read. */
export const isUncertain = ({ record, unread }: Known): boolean =>
  record === undefined && unread.has('execution');

export const goneBecause = (known: Known): string => {
  if (isUncertain(known)) {
    return 'There is no record. It never existed, was erased, or its retention is over: its execution, which could not be read, would show which.';
  }
  const { execution, logs, now } = known;
  const erased = logs.findLast(({ message }) => message === logMessages.erased);
  if (erased !== undefined) return `The record was erased at ${clockTime(erased.at, now)}.`;
  const executed =
    execution === undefined ? '' : ` Its execution started at ${clockTime(execution.startedAt, now)}.`;
  return `There is no record: it was erased, or its retention is over.${executed}`;
};
