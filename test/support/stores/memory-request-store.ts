import type { RequestStore, StoredRequest } from '#lib/extraction/store.ts';
import { type CarryOut, inMemory, type StoreFaults } from './store-fault.ts';

/** The item of a request. */
export const storedRequest = (extractionId: string, requestId = 'request-1'): StoredRequest => ({
  requestId,
  extractionId,
  sealed: 'c2VhbGVk',
  expiresAt: 0,
});

/** A request store over shared items. `carryOut` executes each call. */
export const requestStoreOver = (items: Map<string, StoredRequest>, carryOut: CarryOut): RequestStore => {
  const call = <T>(method: keyof RequestStore, key: string, effect: () => T): Promise<T> =>
    carryOut({ store: 'requests', method, key }, effect);
  return {
    put: (item) =>
      call('put', item.requestId, () => {
        const found = items.get(item.requestId);
        if (found !== undefined && found.sealed !== item.sealed) {
          throw Object.assign(new Error('It exists.'), { name: 'ConditionalCheckFailedException' });
        }
        items.set(item.requestId, { ...item });
      }),
    get: (requestId) =>
      call('get', requestId, () => {
        const item = items.get(requestId);
        return item === undefined ? undefined : { ...item };
      }),
    remove: (requestId, of) =>
      call('remove', requestId, () => {
        const item = items.get(requestId);
        if (item?.taskId === undefined || of === 'any task' || item.taskId === of.taskId)
          items.delete(requestId);
      }),
    extend: (requestId, expiresAt) =>
      call('extend', requestId, () => {
        const item = items.get(requestId);
        if (item !== undefined && item.expiresAt < expiresAt) items.set(requestId, { ...item, expiresAt });
      }),
  };
};

/** The table `Requests` in memory, with these items and DynamoDB's semantics. Nothing expires. */
export const memoryRequestStore = (faults?: StoreFaults, ...stored: readonly StoredRequest[]) => {
  const store = inMemory(requestStoreOver)(faults);
  for (const item of stored) store.items.set(item.requestId, item);
  return store;
};
