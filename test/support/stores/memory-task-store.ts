import { defined } from '#lib/defined.ts';
import type { Removals } from '#lib/extraction/erase/erase-extraction.ts';
import type { Task, TaskStore } from '#lib/extraction/store.ts';
import { type CarryOut, inMemory } from './store-fault.ts';

/** 30 days after the first write of an item, which is always at the start of 1970 here. */
export const taskExpiry = 30 * 24 * 3600;

/** What an erasure does to the item of a task. */
export const eraseTaskIn = (items: Map<string, Task>, taskId: string, extractionId: string): void => {
  if ((items.get(taskId)?.extractionId ?? extractionId) !== extractionId) return;
  items.set(taskId, { taskId, isErased: true, expiresAt: taskExpiry } as Task);
};

/** A task store over shared items. `carryOut` executes each call. */
export const taskStoreOver = (items: Map<string, Task>, carryOut: CarryOut): TaskStore => {
  const call = <T>(method: keyof TaskStore, key: string, effect: () => T): Promise<T> =>
    carryOut({ store: 'tasks', method, key }, effect);
  /** The item that a write changes: every write sets what is missing of these. */
  const written = (taskId: string) => ({ taskId, expiresAt: taskExpiry, ...items.get(taskId) });

  return {
    link: (link) =>
      call('link', link.taskId, () => {
        const item = items.get(link.taskId) ?? { taskId: link.taskId };
        const mayLink =
          item.isErased !== true &&
          (item.extractionId === undefined ||
            (item.extractionId === link.extractionId &&
              (item.callbackAttempt === undefined || item.callbackAttempt <= link.callbackAttempt)));
        if (!mayLink) return { ...item };
        const { extractionId, callbackToken, callbackAttempt, credentialsMac, isConfirmed, afterMark } = link;
        const known = defined({ credentialsMac, isConfirmed, afterMark });
        const next = { ...written(link.taskId), extractionId, callbackToken, callbackAttempt, ...known };
        items.set(link.taskId, next);
        return { ...next };
      }),
    recordStatus: ({ taskId, taskStatus, notifiedAt }) =>
      call('recordStatus', taskId, () => {
        const first = { firstStatus: taskStatus, noticedAt: notifiedAt };
        const item = items.get(taskId);
        if (item?.isErased === true) return { ...item };
        const next = { taskStatus, notifiedAt, ...first, ...written(taskId) };
        items.set(taskId, next);
        return { ...next };
      }),
    adopt: (taskId, extractionId) =>
      call('adopt', taskId, () => {
        const item = items.get(taskId);
        if (item?.isErased === true) return { ...item };
        const next = { extractionId, ...written(taskId) };
        items.set(taskId, next);
        return { ...next };
      }),
    notice: (taskId, firstStatus, noticedAt) =>
      call('notice', taskId, () => {
        const item = items.get(taskId);
        if (item === undefined || item.isErased === true) return undefined;
        const next = { firstStatus, noticedAt, ...item };
        items.set(taskId, next);
        return { ...next };
      }),
    setMarked: (taskId) =>
      call('setMarked', taskId, () => {
        const item = items.get(taskId);
        if (item !== undefined && item.isErased !== true) items.set(taskId, { ...item, isMarked: true });
      }),
    get: (taskId) =>
      call('get', taskId, () => {
        const item = items.get(taskId);
        return item === undefined ? undefined : { ...item };
      }),
  };
};

/** The table `Tasks` in memory, with DynamoDB's semantics. Nothing expires. */
export const memoryTaskStore = inMemory(taskStoreOver);

/** The same, with what an erasure does to it. */
export const erasableTaskStore = (): ReturnType<typeof memoryTaskStore> & Pick<Removals, 'eraseTask'> => {
  const store = memoryTaskStore();
  return { ...store, eraseTask: async (...of) => eraseTaskIn(store.items, ...of) };
};
