import type { RefusalMark, RefusedCredentialsStore } from '../../../lib/extraction/store.ts';
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
      const found = items.get(mark.credentialsMac);
      const isOlder =
        found === undefined || (found.extractionId !== mark.extractionId && found.noticedAt < mark.noticedAt);
      if (isOlder) items.set(mark.credentialsMac, { ...mark });
    }),
});

/** The table `Refusals` in memory, with DynamoDB's semantics. Nothing expires. */
export const memoryRefusedCredentialsStore = inMemory(refusalStoreOver);

/** What start, webhook and reconcile need for marks. */
export const memoryMarks = (faults?: StoreFaults) => ({
  refusals: memoryRefusedCredentialsStore(faults),
  keptDays: 7,
});
