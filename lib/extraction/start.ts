import type { Count } from '../observability/metric-names.ts';
import { ambiguousClientStatus, notAcceptedStatus } from '../provider/assumptions.ts';
import {
  InvalidProviderRequest,
  ProviderBusy,
  ProviderError,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../provider/transport/errors.ts';
import { applyChange, type ChangeOutcome } from './apply-change.ts';
import { isStartStale, plusSeconds, type Timings } from './deadlines.ts';
import { failureReason } from './failure-reason.ts';
import { type Extraction, type ExtractionStatus, hasWebhook, isTerminalStatus } from './record.ts';
import { settle } from './settle.ts';
import type { StartCall } from './start-call.ts';
import type { ExtractionStore, TaskStore } from './store.ts';
import {
  type Change,
  disownTask,
  markRejected,
  markRunning,
  markRunningLate,
  markStarting,
  markUnconfirmed,
  revertToRequested,
} from './transitions.ts';

/** What the state StartTask is handed. */
export type StartInput = {
  readonly extractionId: string;
  /** Of the record that the execution was started for. */
  readonly requestId: string;
  readonly callbackToken: string;
  /** Rises with every retry and redrive of the state. */
  readonly callbackAttempt: number;
};

/** Names of errors that the machine retries (design, section 5). */
export type RetryableStartError =
  | 'ProviderBusy'
  | 'ProviderUnreachable'
  | 'ProviderUnauthorized'
  | 'StartInProgress';

export type StartOutcome =
  /** The task runs and the callback token is left: the webhook wakes the machine. */
  | { readonly kind: 'waiting'; readonly taskId: string }
  /** The task runs, and no webhook will tell of its end: the machine goes on to Reconcile, whose retries poll. */
  | { readonly kind: 'polling'; readonly taskId: string }
  /** There is nothing to wait for: the machine may go on to Reconcile at once. */
  | { readonly kind: 'settled'; readonly status: ExtractionStatus | 'GONE' }
  | { readonly kind: 'retry'; readonly error: RetryableStartError };

export type StartDeps = {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  /** Unseals, and puts together the call that the record's method is started with. Sends nothing. */
  readonly callFor: (record: Extraction) => Promise<StartCall>;
  readonly newAttemptId: () => string;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly count: Count;
  /** Told the taskId as soon as the provider has named it; for the log. */
  readonly onAccepted: (taskId: string) => void;
  /** Told why no token could be had, a start call failed or a write is tried again; for the log, and nothing else. */
  readonly onFailure: (what: 'token' | 'start' | 'write', error: unknown) => void;
};

type StartCallResult =
  | { readonly kind: 'accepted'; readonly taskId: string }
  | { readonly kind: 'not-accepted'; readonly error: RetryableStartError }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

const retryName = (error: unknown): RetryableStartError | undefined => {
  if (error instanceof ProviderBusy) return 'ProviderBusy';
  if (error instanceof ProviderUnreachable) return 'ProviderUnreachable';
  if (error instanceof ProviderUnauthorized) return 'ProviderUnauthorized';
  return undefined;
};

/** A failure that the answer itself explains; only the v2 variant of an extraction by consent has any. */
const explained = (failure: ProviderExtractionFailed): StartCallResult => {
  if (failure.status === notAcceptedStatus) return { kind: 'not-accepted', error: 'ProviderBusy' };
  if (failure.status < 500 && failure.status !== ambiguousClientStatus) {
    return { kind: 'refused', reason: failureReason(failure) };
  }
  return { kind: 'unknown', reason: 'start-call-unanswered' };
};

/**
 * To make a token changes nothing at the provider, so that whatever went wrong with it may be tried again: what
 * the start call would have to call "unknown" is "unreachable" here. Anything but a ProviderError is ours, and
 * thrown.
 */
const tokenFailure = (error: unknown): RetryableStartError => {
  if (!(error instanceof ProviderError)) throw error;
  if (error instanceof ProviderRefused) return 'ProviderUnauthorized';
  return retryName(error) ?? 'ProviderUnreachable';
};

/** The start call, made at most once more, and only after a 401, which says that it was not taken. */
const post = async (
  token: string,
  call: StartCall,
  { onFailure }: Pick<StartDeps, 'onFailure'>,
): Promise<StartCallResult> => {
  const attempt = async (withToken: string): Promise<StartCallResult | 'unauthorized'> => {
    try {
      return { kind: 'accepted', taskId: await call.post(withToken) };
    } catch (error) {
      onFailure('start', error);
      if (error instanceof ProviderUnauthorized) return 'unauthorized';
      if (error instanceof ProviderExtractionFailed) return explained(error);
      if (error instanceof ProviderRefused) return { kind: 'refused', reason: `http-${error.status}` };
      if (error instanceof InvalidProviderRequest) return { kind: 'refused', reason: 'invalid-request' };
      const name = retryName(error);
      if (name !== undefined) return { kind: 'not-accepted', error: name };
      return { kind: 'unknown', reason: 'start-call-unanswered' };
    }
  };

  const first = await attempt(token);
  if (first !== 'unauthorized') return first;
  if (!call.renewable) return { kind: 'refused', reason: 'session-token-refused' };

  call.tokens.drop(token);
  let renewed: string;
  try {
    renewed = await call.tokens.current();
  } catch (error) {
    onFailure('token', error);
    // STARTING is written already, so nothing may be thrown past it: the 401 says that the call was not taken.
    return { kind: 'not-accepted', error: 'ProviderUnauthorized' };
  }
  const second = await attempt(renewed);
  if (second !== 'unauthorized') return second;
  call.tokens.drop(renewed);
  return { kind: 'not-accepted', error: 'ProviderUnauthorized' };
};

/** L: leaves the token; then what a webhook may have left before it is acted on at once. */
const linkTask = async (
  input: StartInput,
  row: Extraction,
  taskId: string,
  deps: StartDeps,
): Promise<StartOutcome> => {
  if (!hasWebhook(row)) return { kind: 'polling', taskId };
  const { linked, task } = await deps.tasks.link({ ...input, taskId });
  if (!linked && task.extractionId !== input.extractionId) {
    // Before the write: it may be a leak, so the alarm must not depend on who hears of that.
    deps.count('TaskLinkedElsewhere');
    const disowned = disownTask(row, taskId, 'start', deps.now(), deps.timings);
    const outcome = await applyChange(deps.extractions, disowned);
    if (outcome.kind === 'lost') return resumeOrRetry(outcome.record, input, deps);
    if (outcome.mine) deps.count('Unconfirmed');
    return { kind: 'settled', status: outcome.record.status };
  }
  if (task.taskStatus === undefined || !isTerminalStatus(task.taskStatus)) return { kind: 'waiting', taskId };
  const { extractionId } = input;
  const fact = { extractionId, taskId, taskStatus: task.taskStatus };
  const settled = await settle('start', fact, deps, 'EarlyDelivery');
  return { kind: 'settled', status: settled?.status ?? 'GONE' };
};

/**
 * Whether this is the record that the execution was started for. After an erasure or a loss a repeated idempotency key
 * makes another under the same id, which an older execution must not start with the request of its own.
 */
const isMine = (row: Extraction | undefined, input: StartInput): row is Extraction =>
  row?.requestId === input.requestId;

/**
 * What an invocation does that may not, or no longer, begin: decides from the row that was there when it came,
 * or that refused its write. A row that went back to `REQUESTED` meanwhile is left to the machine's retry.
 */
const resumeOrRetry = async (
  row: Extraction | undefined,
  input: StartInput,
  deps: StartDeps,
): Promise<StartOutcome> => {
  if (!isMine(row, input)) return { kind: 'settled', status: 'GONE' };
  if (row.status === 'REQUESTED') return { kind: 'retry', error: 'StartInProgress' };
  if (row.status === 'RUNNING' && row.taskId !== undefined) return linkTask(input, row, row.taskId, deps);
  if (row.status === 'STARTING' && row.attemptId !== undefined) {
    const now = deps.now();
    if (!isStartStale(row, now, deps.timings)) return { kind: 'retry', error: 'StartInProgress' };
    const lost = markUnconfirmed(row, row.attemptId, 'start-interrupted', 'start', now, deps.timings);
    const outcome = await applyChange(deps.extractions, lost);
    if (outcome.kind === 'lost') return resumeOrRetry(outcome.record, input, deps);
    if (outcome.mine) deps.count('Unconfirmed');
    return { kind: 'settled', status: 'UNCONFIRMED' };
  }
  return { kind: 'settled', status: row.status };
};

const changeFor = (
  called: StartCallResult,
  row: Extraction,
  attemptId: string,
  now: Date,
  timings: Timings,
): Change => {
  switch (called.kind) {
    case 'accepted':
      return markRunning(row, attemptId, called.taskId, now, timings);
    case 'not-accepted':
      return revertToRequested(row, attemptId, timings);
    case 'refused':
      return markRejected(row, attemptId, called.reason, now, timings);
    case 'unknown':
      return markUnconfirmed(row, attemptId, called.reason, 'start', now, timings);
  }
};

/**
 * From the STARTING write on, what is not written down cannot be learned again: a write that fails for good would cost the
 * taskId, or a start that was not even made, as a STARTING write may have been written unheard. So each gets this many tries,
 * with all those of the SDK in each.
 */
const writeAttempts = 3;

/** Throws what the last of its tries threw. A try that had succeeded unheard is found by the next. */
const persist = async (change: Change, deps: StartDeps): Promise<ChangeOutcome> => {
  for (let left = writeAttempts - 1; left > 0; left -= 1) {
    try {
      return await applyChange(deps.extractions, change);
    } catch (error) {
      deps.onFailure('write', error);
    }
  }
  return applyChange(deps.extractions, change);
};

/** Writes down how the start call ended, and goes on from there. */
const conclude = async (
  row: Extraction,
  attemptId: string,
  called: StartCallResult,
  input: StartInput,
  deps: StartDeps,
): Promise<StartOutcome> => {
  // A taskId in hand is told before it is written: should that fail, the log is the only place that knows it.
  if (called.kind === 'accepted') deps.onAccepted(called.taskId);
  const now = deps.now();
  const change = changeFor(called, row, attemptId, now, deps.timings);
  let outcome = await persist(change, deps);
  if (called.kind === 'accepted' && outcome.kind === 'lost') {
    outcome = await persist(markRunningLate(row, attemptId, called.taskId, now, deps.timings), deps);
  }
  if (outcome.kind === 'lost') return resumeOrRetry(outcome.record, input, deps);

  switch (called.kind) {
    case 'accepted':
      return linkTask(input, outcome.record, called.taskId, deps);
    case 'not-accepted':
      return { kind: 'retry', error: called.error };
    case 'refused':
      if (outcome.mine) deps.count('Rejected');
      return { kind: 'settled', status: outcome.record.status };
    case 'unknown':
      if (outcome.mine) deps.count('Unconfirmed');
      return { kind: 'settled', status: outcome.record.status };
  }
};

/**
 * Starts the provider's task at most once and leaves the callback token (design, sections 3 to 5). The order
 * is what makes it safe: everything that can fail harmlessly, then the `STARTING` write, then the POST, then
 * the record, then the link. Throws only what a dependency of ours throws; the machine then tries again, and
 * finds where this attempt got to.
 */
export const start = async (input: StartInput, deps: StartDeps): Promise<StartOutcome> => {
  const row = await deps.extractions.get(input.extractionId);
  if (!isMine(row, input) || row.status !== 'REQUESTED') return resumeOrRetry(row, input, deps);
  const windowEnd = plusSeconds(row.requestedAt, deps.timings.startWindow);
  // Reconcile, where the machine goes on, says NOT_STARTED.
  if (deps.now().toISOString() >= windowEnd) return { kind: 'settled', status: row.status };

  const call = await deps.callFor(row);
  let token: string;
  try {
    token = await call.tokens.current();
  } catch (error) {
    deps.onFailure('token', error);
    return { kind: 'retry', error: tokenFailure(error) };
  }

  const attemptId = deps.newAttemptId();
  const claimed = await persist(markStarting(row, attemptId, deps.now(), deps.timings), deps);
  if (claimed.kind === 'lost') return resumeOrRetry(claimed.record, input, deps);

  const called = await post(token, call, deps);
  return conclude(claimed.record, attemptId, called, input, deps);
};
