import { defined } from '../defined.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import { delayUntil, maxDelaySeconds, type Timings } from './deadlines.ts';
import { forgetsRequest, judge, plan } from './decide.ts';
import { type Ending, end, type Invoker, type Plan, type Seen } from './plan.ts';
import type { SendReconcile } from './reconcile-message.ts';
import type { Extraction } from './record.ts';
import { keepRequest, removeRequest } from './request-data.ts';
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

/** How an invocation ended for its extraction. */
export type Result =
  | (Pick<Ending, 'why' | 'problem'> & { readonly as: 'gone'; readonly record: undefined })
  | {
      readonly as: Exclude<Ending['as'], 'gone'>;
      readonly why: Ending['why'];
      readonly problem: Ending['problem'];
      readonly record: Extraction;
    };

/** A plan after which something is learned. */
export type Lookup = Extract<
  Plan,
  { kind: 'find-request' | 'find-task' | 'read' | 'last-read' | 'no-read' | 'store' }
>;

/** Does what a plan asks for, and returns what was learned. */
export type Learn = (lookup: Lookup, record: Extraction) => Promise<Seen>;

/** For an invoker that never gets such a plan. */
export const cannotLearn = ({ kind }: Lookup): never => {
  throw new Error(`Nobody can ${kind} here.`);
};

/**
 * How many steps an invocation takes. Without a refused write it takes 5 at most: finds the task, reads, settles, stores, closes. Each
 * refused write adds 3 at most, so that 30 leave room for eight, which are more than other processes make at once. What takes
 * longer repeats itself, which is a defect.
 */
const maxSteps = 30;

/** Nothing came to rest. A delivery ends the wait of the machine, so the queue continues instead. */
const contended = (who: Invoker): Ending =>
  who.kind === 'webhook' ? end('queued', 'contended', 'webhook') : end('not-yet', 'contended');

/**
 * Whether the outcome is logged once more, as the process that wrote it may have ended before it logged. A message `webhook` or `start`
 * logs nothing, as its sender has logged before, and a superseded one nothing, as another follows.
 */
const repeats = (who: Invoker, as: Ending['as']): boolean =>
  as !== 'superseded' && !(who.kind === 'queue' && (who.cause === 'webhook' || who.cause === 'start'));

const sendNext = async (
  { as, message }: Ending,
  { extractionId, dueAt, readsSlowly }: Extraction,
  who: Invoker,
  deps: RunDeps,
): Promise<void> => {
  const { send, sendSlow = send, now, telemetry } = deps;
  if (message === 'none') return;
  if (message === 'same') {
    // If this fails, the message is received again. It may wait for long, so any cause is superseded once `dueAt` has moved.
    if (who.kind === 'queue') {
      await sendSlow({ extractionId, cause: who.cause, ...defined({ dueAt: who.dueAt ?? dueAt }) });
    }
    return;
  }
  const next = message === 'due' ? dueAt : undefined;
  const delaySeconds = next === undefined ? 0 : delayUntil(next, now());
  const body = { extractionId, cause: message, ...defined({ dueAt: next }) };
  if (as === 'queued') return send(body, Math.min(delaySeconds, maxDelaySeconds));
  if (delaySeconds > maxDelaySeconds) return;
  try {
    await (readsSlowly === true ? sendSlow : send)(body, delaySeconds);
  } catch (error) {
    telemetry.failure('The next reconcile was left to the sweep.', error, { extractionId });
  }
};

/** Sets `dueAt`. Only the process that has written it sends the next message. */
const defer = async (
  { dueAt, why, problem, readsSlowly, once }: Extract<Plan, { kind: 'defer' }>,
  record: Extraction,
  write: Write,
  deps: RunDeps,
): Promise<{ readonly ending: Ending; readonly record: Extraction }> => {
  const ending = end('deferred', why);
  await keepRequest(record, dueAt, deps);
  const { kind, record: after = record } = await write(
    reschedule({ record, dueAt, readsSlowly, lastProblem: problem }),
    once,
    record,
  );
  if (kind === 'written') return { ending: { ...ending, message: 'due' }, record: after };
  // Another process has changed it. What it left open, it continues.
  const isOpen = after.dueShard !== undefined;
  return { ending: isOpen ? ending : { ...ending, as: 'closed', why: undefined }, record: after };
};

/**
 * Does what is planned until nothing is left to do now: the loop of reconcile, and the end of a start and of a delivery. Writes,
 * counts, forgets the request and sends the next message. It makes no start call: a plan
 * to start that comes here is left to the machine's retry. Throws what a store or `learn` throws; the invoker then repeats it.
 */
export const run = async (
  first: Plan,
  known: Extraction | undefined,
  who: Invoker,
  deps: RunDeps & { readonly learn: Learn; readonly write?: Write },
): Promise<Result> => {
  const { now, timings, telemetry, learn } = deps;
  const write: Write = deps.write ?? ((change, once, before) => writeProgress(change, once, before, deps));
  let isReported = false;
  let record = known;
  let planned = first;
  let steps = 0;

  const afterWrite = async (planned: Extract<Plan, { kind: 'write' }>): Promise<Plan> => {
    const { change, once, ifWritten, ifRefused } = planned;
    const outcome = await write(change, once, record);
    record = outcome.record;
    isReported ||= outcome.kind === 'written' && change.set.settledAt !== undefined;
    const next = outcome.kind === 'lost' ? ifRefused : ifWritten;
    if (next === 'plan') return plan(record, who, now(), timings);
    if (next.kind !== 'end') return judge(record, who, next, now(), timings);
    // After an equal write of another process, that process sends the message.
    return outcome.kind === 'written' ? next : { ...next, message: 'none' };
  };

  for (;;) {
    for (const metric of planned.counts) telemetry.count(metric, record);
    if (planned.kind === 'end') break;
    steps += 1;
    if (steps > maxSteps) planned = contended(who);
    else if (planned.kind === 'write') planned = await afterWrite(planned);
    // Only an end follows for a record that is not there.
    else if (record === undefined) planned = plan(record, who, now(), timings);
    // It is `REQUESTED` again, after another process took its start back. A second start call is left to the machine's retry.
    else if (planned.kind === 'start' || planned.kind === 'check-start')
      planned = end('not-yet', 'StartInProgress');
    else if (planned.kind === 'defer') {
      const deferred = await defer(planned, record, write, deps);
      [planned, record] = [deferred.ending, deferred.record];
    } else planned = judge(record, who, await learn(planned, record), now(), timings);
  }
  const { as, why, problem } = planned;
  if (record === undefined || as === 'gone') return { as: 'gone', why, problem, record: undefined };
  if (record.settledAt !== undefined && !isReported && repeats(who, as))
    reportOutcomeAgain(record, telemetry);
  if (forgetsRequest(record, who)) await removeRequest(record, deps);
  await sendNext(planned, record, who, deps);
  return { as, why, problem, record };
};
