import { defined } from '../../../lib/defined.ts';
import { plusSeconds } from '../../../lib/extraction/deadlines.ts';
import type { Execution, ExecutionEvent, RetryDelays, StorySettings } from './sources.ts';

export type Attempt = {
  /** 1 for the first try of the state. */
  readonly number: number;
  readonly scheduledAt: string;
  readonly timeoutSeconds?: number;
  readonly endedAt?: string;
  /** Absent if it succeeded, or still runs. */
  readonly error?: string;
  readonly message?: string;
};

export type StateVisit = {
  readonly state: string;
  readonly enteredAt: string;
  readonly leftAt?: string;
  readonly attempts: readonly Attempt[];
};

export type Progress = {
  readonly startedAt: string;
  readonly visits: readonly StateVisit[];
  readonly redrivenAt: readonly string[];
  readonly end?: { readonly at: string; readonly how: 'succeeded' | 'failed' | 'aborted' | 'timed out' };
};

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };
type Visit = Writable<Omit<StateVisit, 'attempts'>> & { readonly attempts: Writable<Attempt>[] };
type Draft = Pick<Writable<Progress>, 'startedAt' | 'end'> & { visits: Visit[]; redrivenAt: string[] };

const ends: Readonly<Record<string, 'succeeded' | 'failed' | 'aborted' | 'timed out'>> = {
  ExecutionSucceeded: 'succeeded',
  ExecutionFailed: 'failed',
  ExecutionAborted: 'aborted',
  ExecutionTimedOut: 'timed out',
};

/** A try fails in the function, before it, or by the timeout of the state. */
const failures = ['TaskFailed', 'TaskTimedOut', 'TaskStartFailed', 'TaskSubmitFailed'];

const apply = (draft: Draft, event: ExecutionEvent): void => {
  const { at, type, state = '', error, message, timeoutSeconds } = event;
  const visit = draft.visits.at(-1);
  const attempts = visit?.attempts ?? [];
  const attempt = attempts.at(-1);
  const how = ends[type];
  if (how !== undefined) {
    draft.end = { at, how };
  } else if (type === 'ExecutionRedriven') {
    draft.redrivenAt.push(at);
    // A redriven execution runs again.
    delete draft.end;
  } else if (type.endsWith('StateEntered')) {
    draft.visits.push({ state, enteredAt: at, attempts: [] });
  } else if (type.endsWith('StateExited')) {
    if (visit !== undefined) visit.leftAt = at;
  } else if (type === 'TaskScheduled') {
    attempts.push(defined({ number: attempts.length + 1, scheduledAt: at, timeoutSeconds }));
  } else if (type === 'TaskSucceeded') {
    if (attempt !== undefined) attempt.endedAt = at;
  } else if (failures.includes(type)) {
    // AWS reports the timeout as an event of its own, the emulator as a failure with this error.
    const named = type === 'TaskTimedOut' ? 'States.Timeout' : (error ?? type);
    if (attempt !== undefined) Object.assign(attempt, defined({ endedAt: at, error: named, message }));
  }
};

/** Folds the events of a history into states and tries. An event that it does not know changes nothing. */
export const progressOf = ({ startedAt, events }: Execution): Progress => {
  const draft: Draft = { startedAt, visits: [], redrivenAt: [] };
  for (const event of events) apply(draft, event);
  return draft;
};

/** The state that the execution is in; undefined before the first and after the last. */
export const currentVisit = ({ visits, end }: Progress): StateVisit | undefined => {
  const last = visits.at(-1);
  return end !== undefined || last?.leftAt !== undefined ? undefined : last;
};

/** The last try of a state that failed, and is not the timeout that ends the wait for the webhook. */
export const lastFailure = (visit: StateVisit | undefined): Attempt | undefined =>
  visit?.attempts.findLast(({ error }) => error !== undefined && error !== 'States.Timeout');

const maxDelay = ({ first, every, backoff }: RetryDelays, failures: number): number =>
  Math.min(first * backoff ** (failures - 1), every);

/**
 * When the try after `attempt` was made, or is made at the latest, because the machine draws each delay between 0 and a
 * bound. Undefined where there is none, as the state was left.
 */
export const nextAttemptAt = (visit: StateVisit, attempt: Attempt, settings: StorySettings | undefined) => {
  const next = visit.attempts.find(({ number }) => number === attempt.number + 1);
  if (next !== undefined) return next.scheduledAt;
  const { endedAt, error } = attempt;
  if (visit.leftAt !== undefined || endedAt === undefined || error === undefined) return undefined;
  if (settings === undefined) return undefined;
  // This error has a retrier of its own, with equal pauses: a sixth of start-task's timeout.
  if (error === 'StartInProgress') return plusSeconds(endedAt, Math.ceil(settings.timings.startTimeout / 6));
  const alike = visit.attempts.filter(
    (one) => one.number <= attempt.number && one.error !== undefined && one.error !== 'StartInProgress',
  );
  const delays = visit.state === 'StartTask' ? settings.startRetry : settings.poll;
  return plusSeconds(endedAt, maxDelay(delays, alike.length));
};

/** What an execution does now, as far as its history shows it. */
export type Trying = {
  readonly does: 'start' | 'line' | 'wait' | 'poll';
  /** Of a start or a poll: how many tries were made. */
  readonly tries: number;
  readonly error?: string;
  /** Why, as start-task reported it. */
  readonly problem?: string;
  readonly nextAt?: string;
};

/** Undefined for an execution that has ended, or has begun nothing yet. */
export const tryingOf = (execution: Progress, settings: StorySettings): Trying | undefined => {
  const visit = currentVisit(execution);
  const last = visit?.attempts.at(-1);
  if (visit === undefined || last === undefined) return undefined;
  const tries = visit.attempts.length;
  if (visit.state === 'InLine') return { does: 'line', tries };
  if (visit.state !== 'StartTask') {
    const ended = visit.attempts.findLast(({ error }) => error !== undefined);
    const nextAt = ended === undefined ? undefined : nextAttemptAt(visit, ended, settings);
    return { does: 'poll', tries, ...defined({ nextAt }) };
  }
  const failure = lastFailure(visit);
  const problem = failure?.message;
  if (failure?.error === undefined || failure.number < last.number) {
    const waitEnd = plusSeconds(last.scheduledAt, last.timeoutSeconds ?? settings.webhookWait);
    return { does: 'wait', tries, nextAt: waitEnd, ...defined({ error: failure?.error, problem }) };
  }
  const nextAt = nextAttemptAt(visit, failure, settings);
  return { does: 'start', tries, error: failure.error, ...defined({ problem, nextAt }) };
};
