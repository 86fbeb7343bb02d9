import type { RefusalMark, RefusedCredentialsStore } from '../../../lib/extraction/store.ts';
import { type CarryOut, type StoreFaults, underFaults } from './store-fault.ts';

/** The store, and its items for tests. */
export type MemoryRefusedCredentialsStore = RefusedCredentialsStore & {
  readonly items: Map<string, RefusalMark>;
};

/** The table `Refusals` in memory, with DynamoDB's semantics. Nothing expires. */
export const memoryRefusedCredentialsStore = (faults: StoreFaults = {}): MemoryRefusedCredentialsStore => {
  const items = new Map<string, RefusalMark>();
  return { items, ...refusalStoreOver(items, underFaults(faults)) };
};

/** A refusal store over shared items. `carryOut` executes each call. */
export const refusalStoreOver = (
  items: Map<string, RefusalMark>,
  carryOut: CarryOut,
): RefusedCredentialsStore => ({
  get: (credentialsMac) =>
    carryOut({ store: 'refusals', method: 'get', key: credentialsMac }, () => {
      const mark = items.get(credentialsMac);
      return mark === undefined ? undefined : { ...mark };
    }),
  put: (mark) =>
    carryOut({ store: 'refusals', method: 'put', key: mark.credentialsMac }, () => {
      const found = items.get(mark.credentialsMac);
      const isOlder =
        found === undefined || (found.extractionId !== mark.extractionId && found.noticedAt < mark.noticedAt);
      if (isOlder) items.set(mark.credentialsMac, { ...mark });
    }),
});

/** What start, webhook and reconcile need for marks. */
export const memoryMarks = (faults: StoreFaults = {}) => ({
  refusals: memoryRefusedCredentialsStore(faults),
  keptDays: 7,
});
