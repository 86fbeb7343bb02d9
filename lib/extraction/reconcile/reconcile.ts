import { plan, planEarly, readsBriefly } from '../decide.ts';
import type { Invoker, Seen } from '../plan.ts';
import type { SendReconcile } from '../reconcile-message.ts';
import type { Extraction, StoredResults } from '../record.ts';
import { type MarkDeps, markCredentials, markDelivered } from '../refusals.ts';
import { findRequest, removeRequest } from '../request-data.ts';
import { type Learn, type Lookup, type Result, type RunDeps, run } from '../run.ts';
import type { RequestStore, Task, TaskStore } from '../store.ts';
import { type ReadDeps, readTask } from './read-task.ts';

/** Who asks for a reconcile. */
export type ReconcileInvoker = Exclude<Invoker, { kind: 'start' | 'webhook' }>;

export type ReconcileDeps = RunDeps &
  ReadDeps &
  MarkDeps & {
    readonly tasks: TaskStore;
    readonly requests: RequestStore;
    /** Stores the bytes under `{extractionId}/{sha256}.json`, so that the same bytes become one object. */
    readonly storeResults: (extractionId: string, bytes: Uint8Array) => Promise<StoredResults>;
    readonly sendSlow: SendReconcile;
  };

/**
 * Finds the item of a task in `Tasks`. A task that start-task did not link is adopted before anything is read or decided. From
 * then on, every delivery finds the extraction. start-task would have removed the item of the request after the link.
 */
const findTask = async (
  { taskId, isLast }: Extract<Lookup, { kind: 'find-task' }>,
  record: Extraction,
  deps: ReconcileDeps,
): Promise<{ readonly seen: Seen; readonly task: Task | undefined }> => {
  const { extractionId } = record;
  const found = await deps.tasks.get(taskId);
  const isNew = found?.extractionId === undefined;
  const task = isNew ? await deps.tasks.adopt(taskId, extractionId) : found;
  const isOwn = task.extractionId === extractionId;
  if (isNew && isOwn) await removeRequest(record, deps);
  if (isOwn) await markDelivered(task, deps);
  const { taskStatus } = task;
  const seen = { kind: 'task', taskId, taskStatus, isOwn, isNew, isLast } as const;
  return { seen, task: isOwn ? task : undefined };
};

/**
 * The effects of one reconcile. The body of an answer stays here until it is stored, and the item of the task until a read settles:
 * what the outcome shows about credentials is marked before that.
 */
const learnFor = (who: ReconcileInvoker, deps: ReconcileDeps): Learn => {
  let body: Uint8Array | undefined;
  let task: Task | undefined;
  return async (lookup, record) => {
    switch (lookup.kind) {
      case 'find-request': {
        const isThere = (await findRequest(record, deps)) !== undefined;
        return { kind: 'request', isThere, reason: lookup.reason };
      }
      case 'find-task': {
        const found = await findTask(lookup, record, deps);
        task = found.task;
        return found.seen;
      }
      case 'read': {
        const { seen, bytes } = await readTask(record, lookup, readsBriefly(who), deps);
        body = bytes;
        const ended = seen.kind === 'read' && seen.reading.kind === 'ended' ? seen.reading : undefined;
        if (task !== undefined && ended !== undefined) await markCredentials(task, ended.taskStatus, deps);
        return seen;
      }
      case 'store': {
        const { reading, isLast } = lookup;
        try {
          const results = await deps.storeResults(record.extractionId, body ?? new Uint8Array());
          return { kind: 'stored', reading, results, isLast };
        } catch (error) {
          deps.telemetry.failure('The results could not be stored.', error, record);
          return { kind: 'stored', reading, results: undefined, isLast };
        }
      }
    }
  };
};

/**
 * Advances one extraction as far as possible (design, section 5), and sends the message for the next time. The result depends
 * only on the record, the clock, the provider and who asks, so reconciling twice does no harm. Throws what a store throws; the
 * invoker then repeats it.
 */
export const reconcile = async (
  extractionId: string,
  who: ReconcileInvoker,
  deps: ReconcileDeps,
): Promise<Result> => {
  const record = await deps.extractions.get(extractionId);
  const now = deps.now();
  const first = planEarly(record, who, now) ?? plan(record, who, now, deps.timings);
  return run(first, record, who, { ...deps, learn: learnFor(who, deps) });
};
