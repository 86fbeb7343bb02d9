import { ambiguousClientStatus, notTakenStatus } from '../provider/assumptions.ts';
import {
  InvalidProviderRequest,
  ProviderBusy,
  ProviderError,
  ProviderExtractionFailed,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../provider/errors.ts';
import { applyChange, type ChangeOutcome } from './apply-change.ts';
import { failureReason } from './failure-reason.ts';
import { isAnnounced } from './is-announced.ts';
import { isAttemptDead } from './is-attempt-dead.ts';
import type { Observe } from './observed.ts';
import { type Extraction, type ExtractionStatus, isTerminalStatus } from './record.ts';
import { settleBy } from './settle-by.ts';
import type { StartCall } from './start-call.ts';
import type { ExtractionStore, TaskStore } from './store.ts';
import { plusSeconds, type Timings } from './timings.ts';
import { begin, type Change, disownTask, loseTrack, reject, run, runLate, withdraw } from './transitions.ts';

/** What the state StartTask is handed. */
export type StartOrder = {
  readonly extractionId: string;
  /** Of the record that the execution was started for. */
  readonly requestId: string;
  readonly callbackToken: string;
  /** Rises with every retry and redrive of the state. */
  readonly callbackAttempt: number;
};

/** Names of errors that the machine retries (design, section 5). */
export type RetryableStart =
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
  | { readonly kind: 'retry'; readonly error: RetryableStart };

export type StartDeps = {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  /** Unseals, and puts together the call that the record's method is started with. Sends nothing. */
  readonly callFor: (record: Extraction) => Promise<StartCall>;
  readonly newAttemptId: () => string;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly observe: Observe;
  /** Told the taskId as soon as the provider has named it; for the log. */
  readonly onTaken: (taskId: string) => void;
  /** Told why no token could be had, a start call failed or a write is tried again; for the log, and nothing else. */
  readonly onFailure: (what: 'token' | 'start' | 'write', error: unknown) => void;
};

type Posted =
  | { readonly kind: 'taken'; readonly taskId: string }
  | { readonly kind: 'not-taken'; readonly error: RetryableStart }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

const retryName = (error: unknown): RetryableStart | undefined => {
  if (error instanceof ProviderBusy) return 'ProviderBusy';
  if (error instanceof ProviderUnreachable) return 'ProviderUnreachable';
  if (error instanceof ProviderUnauthorized) return 'ProviderUnauthorized';
  return undefined;
};

/** A failure that the answer itself explains; only the v2 variant of an extraction by consent has any. */
const explained = (failure: ProviderExtractionFailed): Posted => {
  if (failure.status === notTakenStatus) return { kind: 'not-taken', error: 'ProviderBusy' };
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
const tokenFailure = (error: unknown): RetryableStart => {
  if (!(error instanceof ProviderError)) throw error;
  if (error instanceof ProviderRefused) return 'ProviderUnauthorized';
  return retryName(error) ?? 'ProviderUnreachable';
};

/** The start call, made at most once more, and only after a 401, which says that it was not taken. */
const post = async (
  token: string,
  call: StartCall,
  { onFailure }: Pick<StartDeps, 'onFailure'>,
): Promise<Posted> => {
  const attempt = async (withToken: string): Promise<Posted | 'unauthorized'> => {
    try {
      return { kind: 'taken', taskId: await call.post(withToken) };
    } catch (error) {
      onFailure('start', error);
      if (error instanceof ProviderUnauthorized) return 'unauthorized';
      if (error instanceof ProviderExtractionFailed) return explained(error);
      if (error instanceof ProviderRefused) return { kind: 'refused', reason: `http-${error.status}` };
      if (error instanceof InvalidProviderRequest) return { kind: 'refused', reason: 'invalid-request' };
      const name = retryName(error);
      if (name !== undefined) return { kind: 'not-taken', error: name };
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
    // The mark stands already, so nothing may be thrown past it: the 401 says that the call was not taken.
    return { kind: 'not-taken', error: 'ProviderUnauthorized' };
  }
  const second = await attempt(renewed);
  if (second !== 'unauthorized') return second;
  call.tokens.drop(renewed);
  return { kind: 'not-taken', error: 'ProviderUnauthorized' };
};

/** L: leaves the token; then what a webhook may have left before it is acted on at once. */
const linkTask = async (
  order: StartOrder,
  row: Extraction,
  taskId: string,
  deps: StartDeps,
): Promise<StartOutcome> => {
  if (!isAnnounced(row)) return { kind: 'polling', taskId };
  const { linked, task } = await deps.tasks.link({ ...order, taskId });
  if (!linked && task.extractionId !== order.extractionId) {
    // Before the write: it may be a leak, so the alarm must not depend on who hears of that.
    deps.observe('TaskLinkedElsewhere');
    const disowned = disownTask(row, taskId, 'start', deps.now(), deps.timings);
    const outcome = await applyChange(deps.extractions, disowned);
    if (outcome.kind === 'lost') return resumeOrRetry(outcome.record, order, deps);
    if (outcome.mine) deps.observe('Unconfirmed');
    return { kind: 'settled', status: outcome.record.status };
  }
  if (task.taskStatus === undefined || !isTerminalStatus(task.taskStatus)) return { kind: 'waiting', taskId };
  const { extractionId } = order;
  const fact = { extractionId, taskId, taskStatus: task.taskStatus };
  const settled = await settleBy('start', fact, deps, 'EarlyDelivery');
  return { kind: 'settled', status: settled?.status ?? 'GONE' };
};

/**
 * Whether this is the record that the execution was started for. After an erasure or a loss a repeated idempotency key
 * makes another under the same id, which an older execution must not start with the request of its own.
 */
const isMine = (row: Extraction | undefined, order: StartOrder): row is Extraction =>
  row?.requestId === order.requestId;

/**
 * What an invocation does that may not, or no longer, begin: decides from the row that was there when it came,
 * or that refused its write. A row that went back to `REQUESTED` meanwhile is left to the machine's retry.
 */
const resumeOrRetry = async (
  row: Extraction | undefined,
  order: StartOrder,
  deps: StartDeps,
): Promise<StartOutcome> => {
  if (!isMine(row, order)) return { kind: 'settled', status: 'GONE' };
  if (row.status === 'REQUESTED') return { kind: 'retry', error: 'StartInProgress' };
  if (row.status === 'RUNNING' && row.taskId !== undefined) return linkTask(order, row, row.taskId, deps);
  if (row.status === 'STARTING' && row.attemptId !== undefined) {
    const now = deps.now();
    if (!isAttemptDead(row, now, deps.timings)) return { kind: 'retry', error: 'StartInProgress' };
    const lost = loseTrack(row, row.attemptId, 'attempt-died', 'start', now, deps.timings);
    const outcome = await applyChange(deps.extractions, lost);
    if (outcome.kind === 'lost') return resumeOrRetry(outcome.record, order, deps);
    if (outcome.mine) deps.observe('Unconfirmed');
    return { kind: 'settled', status: 'UNCONFIRMED' };
  }
  return { kind: 'settled', status: row.status };
};

const changeAfter = (
  posted: Posted,
  row: Extraction,
  attemptId: string,
  now: Date,
  timings: Timings,
): Change => {
  switch (posted.kind) {
    case 'taken':
      return run(row, attemptId, posted.taskId, now, timings);
    case 'not-taken':
      return withdraw(row, attemptId, timings);
    case 'refused':
      return reject(row, attemptId, posted.reason, now, timings);
    case 'unknown':
      return loseTrack(row, attemptId, posted.reason, 'start', now, timings);
  }
};

/**
 * From the mark on, what is not written down cannot be learned again: a write that fails for good would cost the
 * taskId, or a start that was not even made, as a mark may have been written unheard. So each gets this many tries,
 * with all those of the SDK in each.
 */
const triesOfAWrite = 3;

/** Throws what the last of its tries threw. A try that had succeeded unheard is found by the next. */
const persist = async (change: Change, deps: StartDeps): Promise<ChangeOutcome> => {
  for (let left = triesOfAWrite - 1; left > 0; left -= 1) {
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
  posted: Posted,
  order: StartOrder,
  deps: StartDeps,
): Promise<StartOutcome> => {
  // A taskId in hand is told before it is written: should that fail, the log is the only place that knows it.
  if (posted.kind === 'taken') deps.onTaken(posted.taskId);
  const now = deps.now();
  const change = changeAfter(posted, row, attemptId, now, deps.timings);
  let outcome = await persist(change, deps);
  if (posted.kind === 'taken' && outcome.kind === 'lost') {
    outcome = await persist(runLate(row, attemptId, posted.taskId, now, deps.timings), deps);
  }
  if (outcome.kind === 'lost') return resumeOrRetry(outcome.record, order, deps);

  switch (posted.kind) {
    case 'taken':
      return linkTask(order, outcome.record, posted.taskId, deps);
    case 'not-taken':
      return { kind: 'retry', error: posted.error };
    case 'refused':
      if (outcome.mine) deps.observe('Rejected');
      return { kind: 'settled', status: outcome.record.status };
    case 'unknown':
      if (outcome.mine) deps.observe('Unconfirmed');
      return { kind: 'settled', status: outcome.record.status };
  }
};

/**
 * Starts the provider's task at most once and leaves the callback token (design, sections 3 to 5). The order
 * is what makes it safe: everything that can fail harmlessly, then the write-ahead mark, then the POST, then
 * the record, then the link. Throws only what a dependency of ours throws; the machine then tries again, and
 * finds where this attempt got to.
 */
export const start = async (order: StartOrder, deps: StartDeps): Promise<StartOutcome> => {
  const row = await deps.extractions.get(order.extractionId);
  if (!isMine(row, order) || row.status !== 'REQUESTED') return resumeOrRetry(row, order, deps);
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
  const marked = await persist(begin(row, attemptId, deps.now(), deps.timings), deps);
  if (marked.kind === 'lost') return resumeOrRetry(marked.record, order, deps);

  const posted = await post(token, call, deps);
  return conclude(marked.record, attemptId, posted, order, deps);
};
