import type { Task, TaskStore } from '../../lib/extraction/store.ts';
import { type CarryOut, type StoreFaults, underFaults } from './store-fault.ts';

/** The store, and its rows for tests. */
export type MemoryTaskStore = TaskStore & { readonly rows: Map<string, Task> };

/** The table `Tasks` in memory, with DynamoDB's semantics. Nothing expires. */
export const memoryTaskStore = (faults: StoreFaults = {}): MemoryTaskStore => {
  const rows = new Map<string, Task>();
  return { rows, ...taskStoreOver(rows, underFaults(faults)) };
};

/** 30 days after the first write of a row, which is always at the start of 1970 here. */
export const taskExpiry = 30 * 24 * 3600;

type TaskMethod = 'link' | 'recordStatus' | 'adopt' | 'get';

/** A task store over shared rows. `carryOut` executes each call. */
export const taskStoreOver = (rows: Map<string, Task>, carryOut: CarryOut): TaskStore => {
  const call = <T>(method: TaskMethod, key: string, effect: () => T): Promise<T> =>
    carryOut({ store: 'tasks', method, key }, effect);
  /** The row that a write changes: every write sets what is missing of these. */
  const written = (taskId: string) => ({ taskId, expiresAt: taskExpiry, ...rows.get(taskId) });

  return {
    link: (link) =>
      call('link', link.taskId, () => {
        const row = rows.get(link.taskId) ?? { taskId: link.taskId };
        const mayLink =
          row.extractionId === undefined ||
          (row.extractionId === link.extractionId &&
            (row.callbackAttempt === undefined || row.callbackAttempt <= link.callbackAttempt));
        if (!mayLink) return { linked: false, task: { ...row } };
        const { extractionId, callbackToken, callbackAttempt } = link;
        const next = { ...written(link.taskId), extractionId, callbackToken, callbackAttempt };
        rows.set(link.taskId, next);
        return { linked: true, task: { ...next } };
      }),
    recordStatus: ({ taskId, taskStatus, notifiedAt }) =>
      call('recordStatus', taskId, () => {
        const next = { taskStatus, notifiedAt, ...written(taskId) };
        rows.set(taskId, next);
        return { ...next };
      }),
    adopt: (taskId, extractionId) =>
      call('adopt', taskId, () => {
        const next = { extractionId, ...written(taskId) };
        rows.set(taskId, next);
        return { ...next };
      }),
    get: (taskId) =>
      call('get', taskId, () => {
        const row = rows.get(taskId);
        return row === undefined ? undefined : { ...row };
      }),
  };
};
