import type { Admission, CircuitBreaker } from '../../breaker/circuit-breaker.ts';
import type { Seen } from '../../breaker/provider-trouble.ts';
import { defined } from '../../defined.ts';
import type { ExtractionMetric } from '../../observability/metric-names.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { isStartStale, plusSeconds, type Timings } from '../deadlines.ts';
import { settle, writeProgress } from '../progress.ts';
import { delayUntil, longestDelaySeconds } from '../reconcile-message.ts';
import {
  breakerAboutOf,
  type Extraction,
  type ExtractionStatus,
  hasTaskItem,
  hasWebhook,
  isTerminalStatus,
} from '../record.ts';
import { findRequest, isRequestDone, removeRequest } from '../request-data.ts';
import {
  type ChangeOutcome,
  type ExtractionStore,
  type RequestStore,
  type StoredRequest,
  type TaskStore,
  writeChange,
} from '../store.ts';
import {
  type Change,
  decisionOn,
  disownTask,
  markRejected,
  markRunning,
  markRunningLate,
  markStarting,
  markUnconfirmed,
  postponeCalls,
  revertToRequested,
} from '../transitions.ts';
import type { NotAccepted, RetryableStartError, StartCallResult } from './start-answer.ts';
import { makeStartCall, obtainToken, type StartCall } from './start-call.ts';

/** The payload of the state StartTask: the execution's input, the callback token and the number of the attempt. */
export type StartInput = {
  readonly extractionId: string;
  /** Of the record that the execution was started for. */
  readonly requestId: string;
  readonly callbackToken: string;
  /** Increases with every retry and redrive of the state. */
  readonly callbackAttempt: number;
};

export type StartOutcome =
  /** The task runs and the callback token is stored. The webhook will wake the execution. */
  | { readonly kind: 'waiting'; readonly taskId: string }
  /**
   * The record is open, and the execution has nothing to wait for: the queue polls a task by consent, collects after an early
   * delivery, or records that the start window is over.
   */
  | {
      readonly kind: 'queued';
      readonly status: ExtractionStatus;
      readonly cause: 'due' | 'start';
      readonly dueAt?: string;
      readonly delaySeconds: number;
    }
  /** Nothing is left to do. */
  | { readonly kind: 'settled'; readonly status: ExtractionStatus | 'GONE' }
  | { readonly kind: 'retry'; readonly error: RetryableStartError };

export type StartDeps = {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  readonly requests: RequestStore;
  /** Unseals the request data and prepares the start call of the record's method. Sends nothing to the provider. */
  readonly callFor: (record: Extraction, stored: StoredRequest) => Promise<StartCall>;
  readonly breaker: CircuitBreaker;
  /** Logs in at the provider, also if a session token is cached. */
  readonly logIn: () => Promise<unknown>;
  /** Calls back once a start call takes so long that it counts as failed. Returns how to stop waiting. */
  readonly whenSlow: (callback: () => void) => () => void;
  readonly newAttemptId: () => string;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly telemetry: Telemetry;
};

/** What one attempt may do, and what its calls have shown so far. */
type Admitted = { readonly admission: Exclude<Admission, { kind: 'held' }>; seen: Seen };

/** What one attempt starts with. */
type Started = { readonly attemptId: string; readonly stored: StoredRequest };

/** Ends with `outcome`, and removes the item of the request if nothing needs it any more. */
const endWith = async (outcome: StartOutcome, record: Extraction, deps: StartDeps): Promise<StartOutcome> => {
  if (isRequestDone(record)) await removeRequest(record, deps);
  return outcome;
};

/** Nothing is left for the execution. What is left of an open record is the queue's. */
const endFor = async (record: Extraction | undefined, deps: StartDeps): Promise<StartOutcome> => {
  if (record === undefined) return { kind: 'settled', status: 'GONE' };
  const { status, dueShard } = record;
  const outcome: StartOutcome =
    dueShard === undefined
      ? { kind: 'settled', status }
      : { kind: 'queued', status, cause: 'start', delaySeconds: 0 };
  return endWith(outcome, record, deps);
};

/** Has the queue poll from `dueAt` on. */
const pollByQueue = ({ status, dueAt }: Extraction, deps: StartDeps): StartOutcome => {
  const delaySeconds = dueAt === undefined ? 0 : Math.min(delayUntil(dueAt, deps.now()), longestDelaySeconds);
  return { kind: 'queued', status, cause: 'due', ...defined({ dueAt }), delaySeconds };
};

/** The outcome, or the record that refused a write, from which the decision is made again. */
type Step = StartOutcome | { readonly kind: 'again'; readonly record: Extraction | undefined };

/** Writes that the extraction ends as `UNCONFIRMED`. */
const closeUnconfirmed = async (change: Change, deps: StartDeps): Promise<Step> => {
  const { kind, record } = await writeProgress(change, deps, 'Unconfirmed');
  return kind === 'lost' ? { kind: 'again', record } : endFor(record, deps);
};

/** Links the task and stores the callback token. Settles at once if an early delivery left a final status. */
const linkTask = async (
  input: StartInput,
  record: Extraction,
  taskId: string,
  deps: StartDeps,
): Promise<Step> => {
  if (!hasTaskItem(record)) return pollByQueue(record, deps);
  const { extractionId, callbackToken, callbackAttempt } = input;
  const { linked, task } = await deps.tasks.link({ taskId, extractionId, callbackToken, callbackAttempt });
  if (!linked && task.extractionId !== input.extractionId) {
    // Counted before the write: this may be a leak, so the alarm must not depend on whether the write succeeds.
    deps.telemetry.count('TaskLinkedElsewhere', record);
    return closeUnconfirmed(disownTask({ ...decisionOn(record, deps), taskId, settledBy: 'start' }), deps);
  }
  if (task.taskStatus === undefined || !isTerminalStatus(task.taskStatus)) {
    return endWith(
      hasWebhook(record) ? { kind: 'waiting', taskId } : pollByQueue(record, deps),
      record,
      deps,
    );
  }
  const reported = { extractionId, taskId, taskStatus: task.taskStatus };
  return endFor(await settle('start', reported, deps, 'EarlyDelivery'), deps);
};

/**
 * Whether this is the record that the execution was started for. After an erasure or a loss, a repeated idempotency key
 * creates another record under the same id. An older execution must not start it with its own request.
 */
const isOfExecution = (record: Extraction | undefined, input: StartInput): record is Extraction =>
  record?.requestId === input.requestId;

/** A record that went back to `REQUESTED` meanwhile is left to the machine's retry. */
const decide = async (record: Extraction | undefined, input: StartInput, deps: StartDeps): Promise<Step> => {
  if (!isOfExecution(record, input)) return { kind: 'settled', status: 'GONE' };
  if (record.status === 'REQUESTED') return { kind: 'retry', error: 'StartInProgress' };
  if (record.status === 'RUNNING' && record.taskId !== undefined)
    return linkTask(input, record, record.taskId, deps);
  if (record.status === 'STARTING' && record.attemptId !== undefined) {
    if (!isStartStale(record, deps.now(), deps.timings)) return { kind: 'retry', error: 'StartInProgress' };
    const { attemptId } = record;
    const interrupted = { attemptId, reason: 'start-interrupted', settledBy: 'start' } as const;
    return closeUnconfirmed(markUnconfirmed({ ...decisionOn(record, deps), ...interrupted }), deps);
  }
  return endFor(record, deps);
};

/** Goes on for an invocation that may not start, or no longer: decides until no write is refused. */
const continueFrom = async (step: Step, input: StartInput, deps: StartDeps): Promise<StartOutcome> => {
  let next = step;
  while (next.kind === 'again') next = await decide(next.record, input, deps);
  return next;
};

const changeFor = (called: StartCallResult, decision: Parameters<typeof markStarting>[0]): Change => {
  switch (called.kind) {
    case 'accepted':
      return markRunning({ ...decision, taskId: called.taskId });
    case 'not-accepted':
      return revertToRequested({ ...decision, notBefore: called.notBefore });
    case 'refused':
      return markRejected({ ...decision, reason: called.reason });
    case 'unknown':
      return markUnconfirmed({ ...decision, reason: called.reason, settledBy: 'start' });
  }
};

const countedFor = {
  accepted: [],
  'not-accepted': [],
  refused: ['Rejected'],
  unknown: ['Unconfirmed'],
} as const satisfies Record<StartCallResult['kind'], readonly ExtractionMetric[]>;

/**
 * How often a write is tried from the `STARTING` write on, each time with the retries of the SDK. If such a write failed
 * for good, the taskId would be lost, or a start that was never made would end as `UNCONFIRMED`.
 */
const writeAttempts = 3;

const writeThrice = async <T>(
  what: string,
  write: () => Promise<T>,
  { telemetry }: StartDeps,
): Promise<T> => {
  for (let left = writeAttempts - 1; left > 0; left -= 1) {
    try {
      return await write();
    } catch (error) {
      telemetry.failure(`${what} could not be written; retrying.`, error);
    }
  }
  return write();
};

/** Applies a change. A retry recognizes an earlier try that succeeded without an answer. Throws the last error. */
const persist = (
  change: Change,
  deps: StartDeps,
  ...metrics: readonly ExtractionMetric[]
): Promise<ChangeOutcome> => writeThrice('The record', () => writeProgress(change, deps, ...metrics), deps);

/**
 * Puts the item of a request back. If that fails, the record still gets its taskId: without the item the task cannot be polled,
 * and without the taskId nobody would know that it runs.
 */
const putBack = async (item: StoredRequest, deps: StartDeps): Promise<void> => {
  try {
    await writeThrice('The item of the request', () => deps.requests.put(item), deps);
  } catch (error) {
    const { extractionId } = item;
    deps.telemetry.failure('The item of the request could not be put back.', error, { extractionId });
  }
};

/**
 * The start was settled as stale before its attempt could write the task. The polls of a consent need the item of the request
 * again. The process that settled the start removed it, or is about to. Once the item has the `taskId`, only a process that knows
 * this task removes it.
 */
const reopen = async (
  late: Parameters<typeof markRunningLate>[0],
  stored: StoredRequest,
  deps: StartDeps,
): Promise<ChangeOutcome> => {
  const { record, taskId } = late;
  const needed = record.method === 'consent';
  if (needed) await putBack({ ...stored, taskId }, deps);
  const outcome = await persist(markRunningLate(late), deps);
  if (needed && outcome.kind === 'lost') await removeRequest({ ...record, taskId }, deps);
  return outcome;
};

/** Writes the result of the start call, and continues from the record as it then is. */
const recordResult = async (
  record: Extraction,
  { attemptId, stored }: Started,
  called: StartCallResult,
  input: StartInput,
  deps: StartDeps,
): Promise<Step> => {
  const { telemetry } = deps;
  if (called.kind === 'accepted') {
    // Logged before the write: if the write fails, the log is the only place that has the taskId.
    telemetry.about({ taskId: called.taskId });
    telemetry.log('The provider accepted the task.');
  }
  const decision = { ...decisionOn(record, deps), attemptId };
  let outcome = await persist(changeFor(called, decision), deps, ...countedFor[called.kind]);
  if (called.kind === 'accepted' && outcome.kind === 'lost') {
    outcome = await reopen({ ...decision, taskId: called.taskId }, stored, deps);
  }
  if (outcome.kind === 'lost') return { kind: 'again', record: outcome.record };

  if (called.kind === 'accepted') return linkTask(input, outcome.record, called.taskId, deps);
  if (called.kind === 'not-accepted') return { kind: 'retry', error: called.error };
  return endFor(outcome.record, deps);
};

/** Nothing was started. If the provider asked to wait, no call is made before then. */
const retryLater = async (
  record: Extraction,
  { error, notBefore }: NotAccepted,
  deps: StartDeps,
): Promise<Step> => {
  if (notBefore !== undefined) await writeChange(deps.extractions, postponeCalls({ record, notBefore }));
  return { kind: 'retry', error };
};

/**
 * Decides for an attempt that finds no item of the request. A process that used the item changed the record before. Otherwise
 * the item is lost: the machine retries until the start window ends, as after any failure.
 */
const startWithoutRequest = async (input: StartInput, deps: StartDeps): Promise<Step> => {
  const record = await deps.extractions.get(input.extractionId);
  return isOfExecution(record, input) && record.status === 'REQUESTED'
    ? { kind: 'retry', error: 'RequestDataGone' }
    : { kind: 'again', record };
};

/** Everything from the unsealing to the record of the start call's result. */
const tryToStart = async (
  record: Extraction,
  input: StartInput,
  admitted: Admitted,
  deps: StartDeps,
): Promise<Step> => {
  const stored = await findRequest(input, deps);
  if (stored === undefined) return startWithoutRequest(input, deps);
  const call = await deps.callFor(record, stored);
  const { admission } = admitted;
  const logIn = admission.kind === 'turn' ? deps.logIn : undefined;
  const obtained = await obtainToken(call, { ...deps, logIn });
  if (obtained.kind === 'failed') {
    admitted.seen = obtained.seen;
    return retryLater(record, obtained.result, deps);
  }

  const attemptId = deps.newAttemptId();
  const claimed = await persist(markStarting({ ...decisionOn(record, deps), attemptId }), deps);
  if (claimed.kind === 'lost') return { kind: 'again', record: claimed.record };

  const reportSlow = () => deps.breaker.report(admission, { kind: 'slow' });
  const called = await makeStartCall(obtained.token, call, { ...deps, reportSlow });
  const { seen, wasSlow = false } = called;
  // It counts once: when it became slow. The end of a turn is its last report.
  if (seen.kind !== 'failed' || !wasSlow || admission.kind === 'turn') admitted.seen = seen;
  return recordResult(claimed.record, { attemptId, stored }, called.result, input, deps);
};

/**
 * Starts the provider's task at most once and stores the callback token (design, sections 3 to 5). Its safety is in the
 * order: first every step that can fail without harm, then the `STARTING` write, the start call, the record, the link.
 * While the breaker is open, nothing is unsealed, requested or written.
 * Throws what a store or `callFor` throws. The machine then retries, and continues where this attempt ended.
 */
export const start = async (input: StartInput, deps: StartDeps): Promise<StartOutcome> => {
  const record = await deps.extractions.get(input.extractionId);
  if (!isOfExecution(record, input) || record.status !== 'REQUESTED') {
    return continueFrom({ kind: 'again', record }, input, deps);
  }
  const now = deps.now().toISOString();
  const windowEnd = plusSeconds(record.requestedAt, deps.timings.startWindow);
  // Reconcile then writes NOT_STARTED.
  if (now >= windowEnd) return endFor(record, deps);
  const isTooEarly = record.notBefore !== undefined && now < record.notBefore;
  if (isTooEarly) return { kind: 'retry', error: 'ProviderBusy' };

  const admission = await deps.breaker.admit(breakerAboutOf(record));
  if (admission.kind === 'held') return { kind: 'retry', error: 'ProviderPaused' };
  const admitted: Admitted = { admission, seen: { kind: 'nothing' } };
  try {
    return await continueFrom(await tryToStart(record, input, admitted, deps), input, deps);
  } finally {
    await deps.breaker.report(admission, admitted.seen);
  }
};
