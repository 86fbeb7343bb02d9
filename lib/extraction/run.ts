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
  type Learned,
  type Plan,
  type PlannedWrite,
  type Result,
} from './plan.ts';
import type { SendReconcile } from './reconcile-message.ts';
import type { Extraction } from './record.ts';
import { forgetRequest, keepRequest } from './request-data.ts';
import type { ExtractionStore, RequestStore } from './store.ts';
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
export type Perform = (effect: Effect, record: Extraction) => Promise<Learned>;

/** For an invoker whose plans never have an effect. */
export const cannotPerform = ({ kind }: Effect): never => {
  throw new Error(`Nobody can ${kind} here.`);
};

/**
 * The most steps of one invocation. Without a refused write it takes at most 5: find the task, read, settle, store, close. Each refused
 * write adds at most 3. So 30 leave room for eight refused writes, which is more than other processes cause at once. A longer run repeats
 * itself, which is a defect.
 */
const maxSteps = 30;

/** The run did not end. A delivery ends the wait of the machine, so the queue continues in its place. */
const contended = (invoker: Invoker): Ending =>
  invoker.kind === 'webhook' ? end('queued', 'contended', 'webhook') : end('not-yet', 'contended');

/**
 * Whether the outcome is logged again, because the process that wrote it may have ended before it logged. For a message `webhook` or
 * `start` it is not, because the sender has logged it. For a superseded message it is not, because another message follows.
 */
const logsOutcomeAgain = (invoker: Invoker, conclusion: Ending['conclusion']): boolean =>
  conclusion !== 'superseded' &&
  !(invoker.kind === 'queue' && (invoker.cause === 'webhook' || invoker.cause === 'start'));

const sendNext = async (
  { conclusion, message }: Ending,
  { extractionId, requestedBy, dueAt, readsSlowly }: Extraction,
  invoker: Invoker,
  deps: RunDeps,
): Promise<void> => {
  const { send, sendSlow = send, now, telemetry } = deps;
  if (message === 'none') return;
  if (message === 'same') {
    // If this fails, the message is received again. It may wait long. So with any cause, it is superseded once `dueAt` has moved.
    if (invoker.kind === 'queue') {
      const same = { extractionId, cause: invoker.cause, ...defined({ dueAt: invoker.dueAt ?? dueAt }) };
      await sendSlow(same, requestedBy);
    }
    return;
  }
  const next = message === 'due' ? dueAt : undefined;
  const delaySeconds = next === undefined ? 0 : delayUntil(next, now());
  const body = { extractionId, cause: message, ...defined({ dueAt: next }) };
  if (conclusion === 'queued') return send(body, requestedBy, Math.min(delaySeconds, maxDelaySeconds));
  if (delaySeconds > maxDelaySeconds) return;
  try {
    await (readsSlowly === true ? sendSlow : send)(body, requestedBy, delaySeconds);
  } catch (error) {
    telemetry.failure('The next reconcile was left to the sweep.', error, { extractionId });
  }
};

/** The state of a run: the next step, and the record as it was last read or written. `isReported`: this run has logged the outcome. */
type Step = {
  readonly planned: Plan;
  /** Undefined if there is no record. */
  readonly record: Extraction | undefined;
  readonly isReported?: boolean;
};

export type RunPorts = RunDeps & { readonly perform: Perform; readonly write?: Write };

/** Makes the planned write. `before` is the record that it was decided on, if it was read. */
const writeAndPlan = async (
  planned: PlannedWrite,
  before: Extraction | undefined,
  invoker: Invoker,
  deps: RunPorts,
): Promise<Step> => {
  const { change, metricsOnWrite, keepsRequestUntil, ifWritten, ifRefused } = planned;
  const write: Write = deps.write ?? ((...of) => writeProgress(...of, deps));
  if (keepsRequestUntil !== undefined && before !== undefined)
    await keepRequest(before, keepsRequestUntil, deps);
  const { kind, record } = await write(change, metricsOnWrite, before);
  const isReported = kind === 'written' && change.set.settledAt !== undefined;
  if (record === undefined) return { planned: end('gone'), record, isReported };
  const next = kind === 'lost' ? ifRefused : ifWritten;
  const now = deps.now();
  if (next === 'plan') return { planned: plan(record, invoker, now, deps.timings), record, isReported };
  if (next.kind !== 'end')
    return { planned: judge(record, invoker, next, now, deps.timings), record, isReported };
  const isClosed = kind === 'lost' && record.dueShard === undefined;
  // After an equal write, the process that wrote it sends the message. That process may have ended before. So a start or a delivery makes a
  // plan (`'plan'`), and also sends.
  const ending = isClosed ? end('closed') : kind === 'written' ? next : { ...next, message: 'none' as const };
  return { planned: ending, record, isReported };
};

/** Makes the next step of a plan that is not an end. */
const stepOn = async (
  planned: Exclude<Plan, Ending>,
  record: Extraction | undefined,
  invoker: Invoker,
  deps: RunPorts,
): Promise<Step> => {
  const { now, timings, perform } = deps;
  if (planned.kind === 'write') return writeAndPlan(planned, record, invoker, deps);
  // Without a record, only an end can follow.
  if (record === undefined) return { planned: plan(record, invoker, now(), timings), record };
  // Another process has taken its start back, so the record is `REQUESTED` again. The machine's retry makes the second start call.
  if (planned.kind === 'start' || planned.kind === 'check-start')
    return { planned: failStart('StartInProgress'), record };
  const learned = await perform(planned, record);
  const judged = judge(learned.record, invoker, learned.observed, now(), timings);
  return { planned: judged, record: learned.record };
};

/** Runs until nothing is left to do now, removes the sealed data of the request if nothing needs them, and sends the next message. */
const runFrom = async (first: Step, invoker: Invoker, deps: RunPorts): Promise<Result> => {
  const { telemetry } = deps;
  let { planned, record, isReported = false } = first;
  for (let steps = 0; ; ) {
    for (const metric of planned.counts) telemetry.count(metric, record);
    if (planned.kind === 'end') break;
    steps += 1;
    if (steps > maxSteps) planned = contended(invoker);
    else {
      const next = await stepOn(planned, record, invoker, deps);
      isReported ||= next.isReported === true;
      ({ planned, record } = next);
    }
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

/**
 * Carries out a plan for a record that was read, or that does not exist. This is the loop of reconcile, and the end of a start. It makes no
 * start call: if a plan says to start, that is left to the machine's retry. Throws what a store or `perform` throws. The invoker then
 * repeats it.
 */
export const run = (
  planned: Plan,
  record: Extraction | undefined,
  invoker: Invoker,
  deps: RunPorts,
): Promise<Result> => runFrom({ planned, record }, invoker, deps);

/** The same for a delivery, whose first write needs no read of the record. */
export const runUnread = async (planned: PlannedWrite, invoker: Invoker, deps: RunPorts): Promise<Result> =>
  runFrom(await writeAndPlan(planned, undefined, invoker, deps), invoker, deps);

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
