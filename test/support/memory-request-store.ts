import type { RequestStore, StoredRequest } from '../../lib/extraction/store.ts';
import { type CarryOut, type StoreFaults, underFaults } from './store-fault.ts';

/** The store, and its rows for tests. */
export type MemoryRequestStore = RequestStore & { readonly rows: Map<string, StoredRequest> };

/** The row of a request. */
export const storedRequest = (extractionId: string, requestId = 'request-1'): StoredRequest => ({
  requestId,
  extractionId,
  sealed: 'c2VhbGVk',
  expiresAt: 0,
});

/** The table `Requests` in memory, with these rows and DynamoDB's semantics. Nothing expires. */
export const memoryRequestStore = (
  faults: StoreFaults = {},
  ...stored: readonly StoredRequest[]
): MemoryRequestStore => {
  const rows = new Map(stored.map((row) => [row.requestId, row]));
  return { rows, ...requestStoreOver(rows, underFaults(faults)) };
};

type RequestMethod = 'put' | 'get' | 'remove' | 'extend';

/** A request store over shared rows. `carryOut` executes each call. */
export const requestStoreOver = (rows: Map<string, StoredRequest>, carryOut: CarryOut): RequestStore => {
  const call = <T>(method: RequestMethod, key: string, effect: () => T): Promise<T> =>
    carryOut({ store: 'requests', method, key }, effect);
  return {
    put: (row) =>
      call('put', row.requestId, () => {
        const found = rows.get(row.requestId);
        if (found !== undefined && found.sealed !== row.sealed) {
          throw Object.assign(new Error('It exists.'), { name: 'ConditionalCheckFailedException' });
        }
        rows.set(row.requestId, { ...row });
      }),
    get: (requestId) =>
      call('get', requestId, () => {
        const row = rows.get(requestId);
        return row === undefined ? undefined : { ...row };
      }),
    remove: (requestId, taskId) =>
      call('remove', requestId, () => {
        const row = rows.get(requestId);
        if (row?.taskId === undefined || row.taskId === taskId) rows.delete(requestId);
      }),
    extend: (requestId, expiresAt) =>
      call('extend', requestId, () => {
        const row = rows.get(requestId);
        if (row !== undefined && row.expiresAt < expiresAt) rows.set(requestId, { ...row, expiresAt });
      }),
  };
};
