import { defined } from '../../defined.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { isProblem } from '../codes.ts';
import { isWindowOver, startWindowOf, type Timings } from '../deadlines.ts';
import { isBriefFor, plan, planEarly } from '../decide.ts';
import { type EndWaitDeps, endWait } from '../end-wait.ts';
import { type BatchAnswer, handleMessages, type ReceivedMessage } from '../handle-messages.ts';
import { phaseOf } from '../phase.ts';
import type { Invoker, Observation, Result } from '../plan.ts';
import { reconcileMessageSchema, type SendReconcile } from '../reconcile-message.ts';
import type { Extraction, ExtractionStatus, StoredResults } from '../record.ts';
import { type MarkDeps, markCredentials, markCredentialsIfKnown } from '../refused-credentials.ts';
import { findRequest, forgetRequest } from '../request-data.ts';
import { type Effect, logResult, type Perform, type RunDeps, run } from '../run.ts';
import type { RequestStore, Task, TaskStore } from '../store.ts';
import { stuckSeconds } from '../stuck-seconds.ts';
import { leaveToSlowQueue, type ReadDeps, readOnce } from './read-task.ts';

/** The invoker of a reconcile. */
export type ReconcileInvoker = Exclude<Invoker, { kind: 'start' | 'webhook' | 'cancel' }>;

export type ReconcileDeps = RunDeps &
  ReadDeps &
  MarkDeps &
  EndWaitDeps & {
    readonly tasks: TaskStore;
    readonly requests: RequestStore;
    /**
     * Stores the bytes under `{extractionId}/{sha256}.json`, so that the same bytes become one object. `isBrief`: it ends after
     * `briefCallMs`.
     */
    readonly storeResults: (
      extractionId: string,
      bytes: Uint8Array,
      isBrief: boolean,
    ) => Promise<StoredResults>;
    readonly sendSlow: SendReconcile;
  };

/** What the line shows of a start: the timings by which it is judged, and whether it has waited for too long. */
type Waited = { readonly timings: Timings; readonly problem?: 'waited-too-long' };

/**
 * Reads the line only if the start window of the record would be over. For the machine, the start no longer waits, whatever its item shows,
 * so it ends. The time that it waited then decides only the reason. Throws what the store throws.
 */
const findWait = async (
  record: Extraction | undefined,
  invoker: ReconcileInvoker,
  now: Date,
  { startLine, timings }: Pick<ReconcileDeps, 'startLine' | 'timings'>,
): Promise<Waited> => {
  if (record?.status !== 'REQUESTED') return { timings };
  const { requestedAt } = phaseOf(record);
  if (!isWindowOver({ requestedAt }, now, timings)) return { timings };
  const entry = await startLine.find(record.extractionId);
  if (entry?.requestId !== record.requestId) return { timings };
  // A broken execution may have been in line, so its wait counts as if it went on.
  const wait = invoker.kind === 'machine' ? 'ended' : 'goes-on';
  const { startWindow, hasWaitedTooLong } = startWindowOf(entry, { requestedAt, wait }, now, timings);
  const isTooLong = wait === 'goes-on' && entry.waitingSince !== undefined && hasWaitedTooLong;
  return {
    timings: { ...timings, startWindow },
    ...(isTooLong ? { problem: 'waited-too-long' } : {}),
  };
};

/**
 * Finds the item of a task in `Tasks`. A task that start-task did not link is adopted before anything is read or decided. From
 * then on, every delivery finds the extraction.
 */
const findTask = async (
  { taskId }: Extract<Effect, { kind: 'find-task' }>,
  record: Extraction,
  deps: ReconcileDeps,
): Promise<{ readonly observed: Observation; readonly task: Task | undefined }> => {
  const { extractionId } = record;
  const found = await deps.tasks.get(taskId);
  const isNew = found?.extractionId === undefined;
  const task = isNew ? await deps.tasks.adopt(taskId, extractionId) : found;
  const isOwn = task.extractionId === extractionId;
  if (isNew && isOwn) await forgetRequest('task-adopted', record, deps);
  if (isOwn) await markCredentialsIfKnown(task, deps);
  const { taskStatus } = task;
  const observed = { kind: 'task', taskId, taskStatus, isOwn, isNew } as const;
  return { observed, task: isOwn ? task : undefined };
};

/**
 * The effects of one reconcile. It keeps the body of an answer until the body is stored. It keeps the item of the task until a read
 * settles, because what the outcome shows about credentials is marked before that. If the mark cannot be written, this throws, and no outcome
 * is written.
 */
const performFor = (invoker: ReconcileInvoker, problem: Waited['problem'], deps: ReconcileDeps): Perform => {
  let body: Uint8Array | undefined;
  let task: Task | undefined;
  return async (effect, record) => {
    switch (effect.kind) {
      case 'find-request': {
        const isThere = (await findRequest(record, deps)) !== undefined;
        return {
          record,
          observed: { kind: 'request', isThere, reason: effect.reason, ...defined({ problem }) },
        };
      }
      case 'find-task': {
        const found = await findTask(effect, record, deps);
        task = found.task;
        return { record, observed: found.observed };
      }
      case 'read':
      case 'last-read':
      case 'no-read': {
        const { bytes, ...learned } = await readOnce(record, effect, isBriefFor(invoker), deps);
        const { observed } = learned;
        body = bytes;
        const ended =
          observed.kind === 'read' && observed.reading.kind === 'ended' ? observed.reading : undefined;
        if (task !== undefined && ended !== undefined) await markCredentials(task, ended.taskStatus, deps);
        return learned;
      }
      case 'store': {
        const { reading } = effect;
        const isBrief = isBriefFor(invoker);
        if (body === undefined) throw new Error('There are no results to store.');
        try {
          const results = await deps.storeResults(record.extractionId, body, isBrief);
          return { record, observed: { kind: 'stored', reading, results } };
        } catch (error) {
          deps.telemetry.failure('The results could not be stored.', error, record);
          const kept = isBrief ? await leaveToSlowQueue(record, deps) : record;
          return { record: kept, observed: { kind: 'stored', reading, results: undefined } };
        }
      }
    }
  };
};

/**
 * Ends the wait of a start that ended while in line, because it waited too long or its execution ended. Otherwise the dispatcher would
 * release it later, and so use the rate or a breaker's turn. A failure is only logged, because the dispatcher then releases it.
 */
const endWaitOf = async (
  { record }: Result,
  { telemetry, ...deps }: Pick<ReconcileDeps, 'startLine' | 'wake' | 'telemetry'>,
): Promise<void> => {
  if (record?.status !== 'NOT_STARTED') return;
  try {
    await endWait(record, deps);
  } catch (error) {
    telemetry.failure(
      'The wait in line of an extraction that is not started could not be ended.',
      error,
      record,
    );
  }
};

/**
 * Advances one extraction as far as possible (design, section 5), sends the message for the next time, and logs the result. Reconciling
 * twice does no harm, because each write has a condition. Throws what a store throws; the invoker then repeats it.
 *
 * What follows, by the phase of the record (decide.ts). "Later": `dueAt` moves, and a message is sent for it. The machine gets NotYet instead
 * while it waits for a start in progress, or for a running task with a webhook, and after too many lost races.
 *
 *     none                                      gone
 *     the message came before `dueAt`           superseded by another message, or sent again; the sweep's, for this `dueAt`, goes on
 *     a part of the record is missing           UNCONFIRMED, or closed as far as it had come
 *     a newer version wrote it                  later
 *     requested   in its start window           later; if the machine or a broken execution asks: NOT_STARTED (start-abandoned)
 *                 after it                      NOT_STARTED (start-window-over). If its sealed item is gone: request-data-gone. Its wait ends
 *     starting    its process may still run     later
 *                 it does not                   UNCONFIRMED (start-interrupted)
 *     running     a delivery left a status      that status, then its results are read
 *                 the task belongs to another   UNCONFIRMED (task-linked-elsewhere)
 *                 read: a final status          that status, then its results are stored
 *                 read: none, failed or held    later; after the deadline TIMED_OUT, and read for a correction
 *                 read: above the size limit    a consent: COMPLETED. A v2 task waits for its delivery; after the deadline TIMED_OUT, closed
 *     grace       a status, by either way       it corrects TIMED_OUT, then its results
 *                 none                          later; after the grace: closed; with `collectionError` if no call could be made
 *                 too large, or another's task  closed at once, with `collectionError`
 *     collecting  read: results                 stored, and closed
 *                 read: none                    later; after 24 hours: closed with `collectionError`
 *                 read: a part                  later; after ten minutes: closed with the part
 *                 read: above the size limit    closed (results-too-large)
 *                 it is to be erased            closed, and nothing is stored
 *     a read or a store of the queue failed     the slow queue takes the message, and tries with the whole timeout
 *     closed                                    nothing but what an earlier process may have left: the log, its sealed item, its wait in line
 */
export const reconcile = async (
  extractionId: string,
  invoker: ReconcileInvoker,
  deps: ReconcileDeps,
): Promise<Result> => {
  const record = await deps.extractions.get(extractionId);
  // One time for both: if the window ended between two, its wait would not have been read.
  const now = deps.now();
  const { timings, problem } = await findWait(record, invoker, now, deps);
  const first = planEarly(record, invoker, now) ?? plan(record, invoker, now, timings);
  const result = await run(first, record, invoker, {
    ...deps,
    timings,
    perform: performFor(invoker, problem, deps),
  });
  await endWaitOf(result, deps);
  logResult(extractionId, invoker, result, deps.telemetry);
  return result;
};

/** The event of a direct invocation of reconcile-extraction: by the machine, or by an operator. */
export type ReconcileEvent =
  | {
      readonly trigger: 'machine';
      readonly extractionId: string;
      /** The cause of the last failed start. Only a code counts. */
      readonly lastProblem?: unknown;
    }
  | { readonly trigger: 'operator'; readonly extractionId: string };

/** The answer of reconcile-extraction. */
export type ReconcileAnswer = {
  readonly extractionId: string;
  readonly status: ExtractionStatus | 'GONE';
  /** The record is not closed yet. The queue or the sweep continues. */
  readonly deferred: boolean;
};

/** Converts an event into the invoker. Throws TypeError for an unknown trigger. */
export const reconcileInvokerOf = (event: ReconcileEvent): ReconcileInvoker => {
  if (event.trigger === 'operator') return { kind: 'operator' };
  if (event.trigger !== 'machine') throw new TypeError('The event has no trigger of reconcile-extraction.');
  const { lastProblem } = event;
  return { kind: 'machine', ...(isProblem(lastProblem) ? { lastProblem } : {}) };
};

/** Thrown only to the machine, whose Retry is the poll. So the function's Errors metric counts polls. */
export class NotYet extends Error {
  override readonly name = 'NotYet';

  constructor(message: string) {
    super(message);
    // The runtime logs the stack with every poll. It is always the same, and would be most of the line, so it is shortened.
    this.stack = `${this.name}: ${message}`;
  }
}

/** Returns the answer to the invoker. Throws NotYet if the machine has to invoke the function again. */
export const answerReconcile = (
  extractionId: string,
  { conclusion, explanation, record }: Result,
  invoker: ReconcileInvoker['kind'],
): ReconcileAnswer => {
  if (conclusion === 'gone') return { extractionId, status: 'GONE', deferred: false };
  if (conclusion === 'not-yet' && invoker === 'machine') throw new NotYet(explanation ?? 'not-yet');
  return { extractionId, status: record.status, deferred: conclusion !== 'closed' };
};

type ReconcileMessagesDeps = {
  /** Whether the messages are from the slow queue. */
  readonly isSlow: boolean;
  readonly reconcile: (extractionId: string, invoker: ReconcileInvoker) => Promise<Result>;
  readonly now: () => Date;
  readonly timings: Timings;
  readonly telemetry: Telemetry;
};

/** Reports a record that is still open although all its deadlines have passed. The sweep only sends, and does not see it. */
const countStuck = (result: Result, { now, timings, telemetry }: ReconcileMessagesDeps): void => {
  const stuck = result.conclusion === 'gone' ? 0 : stuckSeconds(result.record, now(), timings);
  if (stuck > 0) telemetry.count('OldestStuckSeconds', { value: stuck });
};

/** Reconciles the extraction of each message. If a record is missing, its message is done: it was erased, or its retention is over. */
export const reconcileMessages = (
  messages: readonly ReceivedMessage[],
  deps: ReconcileMessagesDeps,
): Promise<BatchAnswer> =>
  handleMessages(messages, {
    queue: 'reconcile queue',
    schema: reconcileMessageSchema(),
    aboutOf: ({ extractionId }) => ({ extractionId }),
    handle: async ({ extractionId, ...trigger }) => {
      const invoker = { kind: 'queue', ...trigger, isSlow: deps.isSlow } as const;
      countStuck(await deps.reconcile(extractionId, invoker), deps);
    },
    telemetry: deps.telemetry,
  });
