import { mergeMarks } from '#lib/extraction/refused-credentials.ts';
import type { RefusalMark, RefusedCredentialsStore } from '#lib/extraction/store.ts';
import { type CarryOut, inMemory, type StoreFaults } from './store-fault.ts';

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
      const merged = mergeMarks(items.get(mark.credentialsMac), mark);
      if (merged !== undefined) items.set(mark.credentialsMac, { ...merged });
    }),
});

/** The table `Refusals` in memory, with DynamoDB's semantics. Nothing expires. */
export const memoryRefusedCredentialsStore = inMemory(refusalStoreOver);

/** What start, webhook and reconcile need for marks. */
export const memoryMarks = (faults?: StoreFaults) => ({
  refusals: memoryRefusedCredentialsStore(faults),
  keptDays: 7,
});
