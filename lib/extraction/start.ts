import {
  InvalidProviderRequest,
  ProviderBusy,
  ProviderError,
  ProviderRefused,
  ProviderUnauthorized,
  ProviderUnreachable,
} from '../provider/errors.ts';
import type { SessionTokens } from '../provider/session-tokens.ts';
import type { TaskRequest } from '../provider/start-task.ts';
import { applyChange } from './apply-change.ts';
import { isAttemptDead } from './is-attempt-dead.ts';
import type { Observe } from './observed.ts';
import { type Extraction, type ExtractionStatus, isTerminalStatus } from './record.ts';
import type { SealedPlaintext } from './sealed-plaintext.ts';
import { settleBy } from './settle-by.ts';
import type { ExtractionStore, TaskStore } from './store.ts';
import { plusSeconds, type Timings } from './timings.ts';
import { begin, type Change, loseTrack, reject, run, runLate, withdraw } from './transitions.ts';

/** What the state StartTask is handed. */
export type StartOrder = {
  readonly extractionId: string;
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
  /** There is nothing to wait for: the machine may go on to Reconcile at once. */
  | { readonly kind: 'settled'; readonly status: ExtractionStatus | 'GONE' }
  | { readonly kind: 'retry'; readonly error: RetryableStart };

export type StartDeps = {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  readonly sessions: SessionTokens;
  readonly startTask: (sessionToken: string, request: TaskRequest) => Promise<string>;
  readonly unseal: () => Promise<SealedPlaintext>;
  readonly newAttemptId: () => string;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly observe: Observe;
  /** Told the taskId as soon as the provider has named it; for the log. */
  readonly onTaken: (taskId: string) => void;
  /** Told why a login or a start call failed; for the log, and nothing else. */
  readonly onFailure: (what: 'login' | 'start', error: unknown) => void;
};

/** The most deliveries that the document allows ("Events", rule 2). */
const webhookRetries = 5;

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

/**
 * A login changes nothing at the provider, so that whatever went wrong with it may be tried again: what the
 * start call would have to call "unknown" is "unreachable" here. Anything but a ProviderError is ours, and
 * thrown.
 */
const loginFailure = (error: unknown): RetryableStart => {
  if (!(error instanceof ProviderError)) throw error;
  if (error instanceof ProviderRefused) return 'ProviderUnauthorized';
  return retryName(error) ?? 'ProviderUnreachable';
};

/** The start call, made at most once more, and only after a 401, which says that it was not taken. */
const post = async (
  sessionToken: string,
  callerBroughtToken: boolean,
  request: TaskRequest,
  deps: Pick<StartDeps, 'sessions' | 'startTask' | 'onFailure'>,
): Promise<Posted> => {
  const attempt = async (token: string): Promise<Posted | 'unauthorized'> => {
    try {
      return { kind: 'taken', taskId: await deps.startTask(token, request) };
    } catch (error) {
      deps.onFailure('start', error);
      if (error instanceof ProviderUnauthorized) return 'unauthorized';
      if (error instanceof ProviderRefused) return { kind: 'refused', reason: `http-${error.status}` };
      if (error instanceof InvalidProviderRequest) return { kind: 'refused', reason: 'invalid-request' };
      const name = retryName(error);
      if (name !== undefined) return { kind: 'not-taken', error: name };
      return { kind: 'unknown', reason: 'start-call-unanswered' };
    }
  };

  const first = await attempt(sessionToken);
  if (first !== 'unauthorized') return first;
  if (callerBroughtToken) return { kind: 'refused', reason: 'session-token-refused' };

  deps.sessions.drop(sessionToken);
  let renewed: string;
  try {
    renewed = await deps.sessions.current();
  } catch (error) {
    deps.onFailure('login', error);
    // The mark stands already, so nothing may be thrown past it: the 401 says that the call was not taken.
    return { kind: 'not-taken', error: 'ProviderUnauthorized' };
  }
  const second = await attempt(renewed);
  if (second !== 'unauthorized') return second;
  deps.sessions.drop(renewed);
  return { kind: 'not-taken', error: 'ProviderUnauthorized' };
};

/** L: leaves the token; then what a webhook may have left before it is acted on at once. */
const linkTask = async (order: StartOrder, taskId: string, deps: StartDeps): Promise<StartOutcome> => {
  const { linked, task } = await deps.tasks.link({ ...order, taskId });
  if (!linked && task.extractionId !== order.extractionId) {
    // No webhook can find us then; the machine's wait runs out and the poll settles it.
    deps.observe('TaskLinkedElsewhere');
    return { kind: 'waiting', taskId };
  }
  if (task.taskStatus === undefined || !isTerminalStatus(task.taskStatus)) return { kind: 'waiting', taskId };
  const { extractionId } = order;
  const row = await settleBy('start', { extractionId, taskId, taskStatus: task.taskStatus }, deps);
  return { kind: 'settled', status: row?.status ?? 'GONE' };
};

/**
 * What an invocation does that may not, or no longer, begin: decides from the row that was there when it came,
 * or that refused its write. A row that went back to `REQUESTED` meanwhile is left to the machine's retry.
 */
const resumeOrRetry = async (
  row: Extraction | undefined,
  order: StartOrder,
  deps: StartDeps,
): Promise<StartOutcome> => {
  if (row === undefined) return { kind: 'settled', status: 'GONE' };
  if (row.status === 'REQUESTED') return { kind: 'retry', error: 'StartInProgress' };
  if (row.status === 'RUNNING' && row.taskId !== undefined) return linkTask(order, row.taskId, deps);
  if (row.status === 'STARTING' && row.attemptId !== undefined) {
    const now = deps.now();
    if (!isAttemptDead(row, now, deps.timings)) return { kind: 'retry', error: 'StartInProgress' };
    const lost = loseTrack(row, row.attemptId, 'attempt-died', 'start', now, deps.timings);
    const outcome = await applyChange(deps.extractions, lost);
    if (outcome.kind === 'lost') return resumeOrRetry(outcome.record, order, deps);
    deps.observe('Unconfirmed');
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
  let outcome = await applyChange(deps.extractions, change);
  if (posted.kind === 'taken' && outcome.kind === 'lost') {
    const late = runLate(row, attemptId, posted.taskId, now, deps.timings);
    outcome = await applyChange(deps.extractions, late);
  }
  if (outcome.kind === 'lost') return resumeOrRetry(outcome.record, order, deps);

  switch (posted.kind) {
    case 'taken':
      return linkTask(order, posted.taskId, deps);
    case 'not-taken':
      return { kind: 'retry', error: posted.error };
    case 'refused':
      deps.observe('Rejected');
      return { kind: 'settled', status: outcome.record.status };
    case 'unknown':
      deps.observe('Unconfirmed');
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
  if (row?.status !== 'REQUESTED') return resumeOrRetry(row, order, deps);
  const windowEnd = plusSeconds(row.requestedAt, deps.timings.startWindow);
  // Reconcile, where the machine goes on, says NOT_STARTED.
  if (deps.now().toISOString() >= windowEnd) return { kind: 'settled', status: row.status };

  const { credentials, sessionToken: callersToken } = await deps.unseal();
  let sessionToken: string;
  try {
    sessionToken = callersToken ?? (await deps.sessions.current());
  } catch (error) {
    deps.onFailure('login', error);
    return { kind: 'retry', error: loginFailure(error) };
  }

  const attemptId = deps.newAttemptId();
  const marked = await applyChange(deps.extractions, begin(row, attemptId, deps.now(), deps.timings));
  if (marked.kind === 'lost') return resumeOrRetry(marked.record, order, deps);

  const { entity, actions } = marked.record;
  const posted = await post(
    sessionToken,
    callersToken !== undefined,
    { entity, credentials, actions, webhook: { enable: true, retries: webhookRetries } },
    deps,
  );
  return conclude(marked.record, attemptId, posted, order, deps);
};
