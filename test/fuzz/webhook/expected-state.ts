import { adviceOf } from '#lib/extraction/advice.ts';
import type { Extraction, TerminalStatus } from '#lib/extraction/record.ts';
import type { Task } from '#lib/extraction/store.ts';
import { taskExpiry } from '../../support/stores/memory-task-store.ts';
import { deliveredAt, type State, type WorldSetup } from './webhook-world.ts';

/** From settling to `dueAt`, in milliseconds: `pollEvery` of the fixtures. */
const pollEvery = 120_000;

const plus = (time: Date, milliseconds: number): string =>
  new Date(time.getTime() + milliseconds).toISOString();

/** Of one record, what a verified delivery makes of it: `RUNNING` is settled, `TIMED_OUT` corrected, the rest stays. */
const settled = (record: Extraction, taskId: string, taskStatus: TerminalStatus): Extraction => {
  const takes = record.status === 'RUNNING' || record.status === 'TIMED_OUT';
  if (!takes || record.taskId !== taskId) return record;
  const { reason: _reason, expiresAt: _expiresAt, lastProblem: _problem, advice: _advice, ...rest } = record;
  const advice = adviceOf({ status: taskStatus });
  return {
    ...rest,
    status: taskStatus,
    settledAt: deliveredAt.toISOString(),
    settledBy: 'webhook',
    isFinal: true,
    ...(advice === undefined ? {} : { advice }),
    // Index `open` has the same partition as ever: the records of a case are open already.
    dueAt: plus(deliveredAt, pollEvery),
  };
};

type Delivery = { readonly taskId: string; readonly taskStatus: string };

/**
 * The items after one delivery, by design sections 3 and 4, the extractions that the queue got a message for, and the tokens
 * that were given to Step Functions.
 */
export const expectedState = (
  setup: WorldSetup,
  delivery: Delivery,
): State & { readonly sent: readonly string[]; readonly woken: readonly string[] } => {
  const extractions = new Map(setup.extractions.map((record) => [record.extractionId, record]));
  const tasks = new Map(setup.tasks.map((item) => [item.taskId, item]));

  const before: Task = tasks.get(delivery.taskId) ?? { taskId: delivery.taskId };
  const task = {
    // From the first write on (design, section 4). An item of the setup has none yet.
    expiresAt: taskExpiry,
    ...before,
    taskStatus: before.taskStatus ?? delivery.taskStatus,
    notifiedAt: before.notifiedAt ?? deliveredAt.toISOString(),
    // The first status decides about the credentials (design, section 6).
    firstStatus: before.firstStatus ?? delivery.taskStatus,
    noticedAt: before.noticedAt ?? deliveredAt.toISOString(),
  };
  tasks.set(task.taskId, task);

  const { extractionId, callbackToken } = task;
  const record = extractionId === undefined ? undefined : extractions.get(extractionId);
  const next = record && settled(record, task.taskId, task.taskStatus as TerminalStatus);
  if (next !== undefined) extractions.set(next.extractionId, next);
  // Only an open record has something to collect.
  const sent = next?.dueShard === undefined ? [] : [next.extractionId];
  return { extractions, tasks, sent, woken: callbackToken === undefined ? [] : [callbackToken] };
};
