import { defined } from '../defined.ts';
import { logMessages } from '../observability/log-messages.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { delayUntil, maxDelaySeconds, type Timings } from './deadlines.ts';
import { judge, plan } from './decide.ts';
import {
  type Ending,
  end,
  failStart,
  type Invoker,
  type Observation,
  type Plan,
  type Result,
} from './plan.ts';
import type { SendReconcile } from './reconcile-message.ts';
import type { Extraction } from './record.ts';
import { forgetRequest, keepRequest } from './request-data.ts';
import type { ExtractionStore, RequestStore } from './store.ts';
import { reschedule } from './transitions.ts';
import { reportOutcomeAgain, type Write, writeProgress } from './write-progress.ts';

export type RunDeps = {
  readonly extractions: ExtractionStore;
  /** Absent in the webhook, which has no access to requests. */
  readonly requests?: RequestStore;
  readonly send: SendReconcile;
  readonly sendSlow?: SendReconcile;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly telemetry: Telemetry;
};

/** A plan with an effect, such as a read, after which something is learned. */
export type Effect = Extract<
  Plan,
  { kind: 'find-request' | 'find-task' | 'read' | 'last-read' | 'no-read' | 'store' }
>;

/** Does what a plan asks for, and returns what was learned. */
export type Perform = (effect: Effect, record: Extraction) => Promise<Observation>;

/** For an invoker that never gets such a plan. */
export const cannotPerform = ({ kind }: Effect): never => {
  throw new Error(`Nobody can ${kind} here.`);
};

/**
 * How many steps an invocation takes. Without a refused write it takes 5 at most: finds the task, reads, settles, stores, closes. Each
 * refused write adds 3 at most, so that 30 leave room for eight, which are more than other processes make at once. What takes
 * longer repeats itself, which is a defect.
 */
const maxSteps = 30;

/** Nothing came to rest. A delivery ends the wait of the machine, so the queue continues instead. */
const contended = (invoker: Invoker): Ending =>
  invoker.kind === 'webhook' ? end('queued', 'contended', 'webhook') : end('not-yet', 'contended');

/**
 * Whether the outcome is logged once more, as the process that wrote it may have ended before it logged. A message `webhook` or `start`
 * logs nothing, as its sender has logged before, and a superseded one nothing, as another follows.
 */
const logsOutcomeAgain = (invoker: Invoker, conclusion: Ending['conclusion']): boolean =>
  conclusion !== 'superseded' &&
  !(invoker.kind === 'queue' && (invoker.cause === 'webhook' || invoker.cause === 'start'));

const sendNext = async (
  { conclusion, message }: Ending,
  { extractionId, dueAt, readsSlowly }: Extraction,
  invoker: Invoker,
  deps: RunDeps,
): Promise<void> => {
  const { send, sendSlow = send, now, telemetry } = deps;
  if (message === 'none') return;
  if (message === 'same') {
    // If this fails, the message is received again. It may wait for long, so any cause is superseded once `dueAt` has moved.
    if (invoker.kind === 'queue') {
      await sendSlow({ extractionId, cause: invoker.cause, ...defined({ dueAt: invoker.dueAt ?? dueAt }) });
    }
    return;
  }
  const next = message === 'due' ? dueAt : undefined;
  const delaySeconds = next === undefined ? 0 : delayUntil(next, now());
  const body = { extractionId, cause: message, ...defined({ dueAt: next }) };
  if (conclusion === 'queued') return send(body, Math.min(delaySeconds, maxDelaySeconds));
  if (delaySeconds > maxDelaySeconds) return;
  try {
    await (readsSlowly === true ? sendSlow : send)(body, delaySeconds);
  } catch (error) {
    telemetry.failure('The next reconcile was left to the sweep.', error, { extractionId });
  }
};

/** Sets `dueAt`. Only the process that has written it sends the next message. */
const defer = async (
  { dueAt, explanation, problem, readsSlowly, metricsOnWrite }: Extract<Plan, { kind: 'defer' }>,
  record: Extraction,
  write: Write,
  deps: RunDeps,
): Promise<{ readonly ending: Ending; readonly record: Extraction }> => {
  const ending = end('deferred', explanation);
  await keepRequest(record, dueAt, deps);
  const { kind, record: after = record } = await write(
    reschedule({ record, dueAt, readsSlowly, lastProblem: problem }),
    metricsOnWrite,
    record,
  );
  if (kind === 'written') return { ending: { ...ending, message: 'due' }, record: after };
  // Another process has changed it. What it left open, it continues.
  const isOpen = after.dueShard !== undefined;
  return {
    ending: isOpen ? ending : { ...ending, conclusion: 'closed', explanation: undefined },
    record: after,
  };
};

/**
 * Does what is planned until nothing is left to do now: the loop of reconcile, and the end of a start and of a delivery. Writes,
 * counts, forgets the request if nothing needs it, and sends the next message. It makes no start call: a plan
 * to start that comes here is left to the machine's retry. Throws what a store or `perform` throws; the invoker then repeats it.
 */
export const run = async (
  first: Plan,
  known: Extraction | undefined,
  invoker: Invoker,
  deps: RunDeps & { readonly perform: Perform; readonly write?: Write },
): Promise<Result> => {
  const { now, timings, telemetry, perform } = deps;
  const write: Write =
    deps.write ?? ((change, metricsOnWrite, before) => writeProgress(change, metricsOnWrite, before, deps));
  let isReported = false;
  let record = known;
  let planned = first;
  let steps = 0;

  const afterWrite = async (planned: Extract<Plan, { kind: 'write' }>): Promise<Plan> => {
    const { change, metricsOnWrite, ifWritten, ifRefused } = planned;
    const outcome = await write(change, metricsOnWrite, record);
    record = outcome.record;
    isReported ||= outcome.kind === 'written' && change.set.settledAt !== undefined;
    const next = outcome.kind === 'lost' ? ifRefused : ifWritten;
    if (next === 'plan') return plan(record, invoker, now(), timings);
    if (next.kind !== 'end') return judge(record, invoker, next, now(), timings);
    // After an equal write, the process that wrote it sends the message. It may have ended before, so a start or a delivery plans
    // instead (`'plan'`), and sends too.
    return outcome.kind === 'written' ? next : { ...next, message: 'none' };
  };

  for (;;) {
    for (const metric of planned.counts) telemetry.count(metric, record);
    if (planned.kind === 'end') break;
    steps += 1;
    if (steps > maxSteps) planned = contended(invoker);
    else if (planned.kind === 'write') planned = await afterWrite(planned);
    // Only an end follows for a record that is not there.
    else if (record === undefined) planned = plan(record, invoker, now(), timings);
    // It is `REQUESTED` again, after another process took its start back. A second start call is left to the machine's retry.
    else if (planned.kind === 'start' || planned.kind === 'check-start')
      planned = failStart('StartInProgress');
    else if (planned.kind === 'defer') {
      const deferred = await defer(planned, record, write, deps);
      [planned, record] = [deferred.ending, deferred.record];
    } else planned = judge(record, invoker, await perform(planned, record), now(), timings);
  }
  const { conclusion, explanation, error, problem } = planned;
  if (record === undefined || conclusion === 'gone')
    return { conclusion: 'gone', explanation, error, problem, record: undefined };
  if (record.settledAt !== undefined && !isReported && logsOutcomeAgain(invoker, conclusion))
    reportOutcomeAgain(record, telemetry);
  await forgetRequest(`ended-by-${invoker.kind}`, record, deps);
  await sendNext(planned, record, invoker, deps);
  return { conclusion, explanation, error, problem, record };
};

/** Logs how a reconcile or a cancellation ended for its extraction. */
export const logResult = (
  extractionId: string,
  invoker: Invoker,
  { conclusion, explanation, record }: Result,
  telemetry: Telemetry,
): void =>
  telemetry.log(logMessages.reconcileFinished, {
    extractionId,
    invoker: invoker.kind,
    ...(invoker.kind === 'queue' ? { cause: invoker.cause } : {}),
    outcome: conclusion,
    ...defined({ explanation, status: record?.status, taskId: record?.taskId }),
  });
