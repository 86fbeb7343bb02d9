import type { Entry, TotalsStore } from '../../../examples/consumer/count-event.ts';
import { totalChanges } from '../../../examples/consumer/dynamo-totals-store.ts';

/** The totals of examples/consumer in memory. Its calls are asynchronous, so that invocations overlap. */
export const memoryTotalsStore = () => {
  const entries = new Map<string, Entry>();
  const totals = new Map<string, { extractions: number; collected: number; bytes: number }>();
  const store: TotalsStore = {
    getEntry: async (extractionId) => entries.get(extractionId),
    replaceEntry: async (extractionId, before, after) => {
      if (entries.get(extractionId)?.sequenceNumber !== before?.sequenceNumber) return false;
      entries.set(extractionId, after);
      const changes = totalChanges(before?.contribution, after.contribution);
      for (const { day, sourceAndOutcome, extractions, collected, bytes } of changes) {
        const key = `${day} ${sourceAndOutcome}`;
        const sums = totals.get(key) ?? { extractions: 0, collected: 0, bytes: 0 };
        totals.set(key, {
          extractions: sums.extractions + extractions,
          collected: sums.collected + collected,
          bytes: sums.bytes + bytes,
        });
      }
      return true;
    },
  };
  const shown = () =>
    Object.fromEntries([...totals].filter(([, sums]) => Object.values(sums).some((sum) => sum !== 0)));
  return { store, shown };
};
