import { maxMismatches, type RepeatCounter } from '../../../lib/extraction/store.ts';

/** The counter in memory. Its hour never ends. */
export const memoryRepeatCounter = (): RepeatCounter => {
  const counts = new Map<string, number>();
  return {
    count: async (extractionId) => {
      const count = counts.get(extractionId) ?? 0;
      if (count >= maxMismatches) return 3_600;
      counts.set(extractionId, count + 1);
      return undefined;
    },
    takeBack: async (extractionId) => void counts.set(extractionId, (counts.get(extractionId) ?? 1) - 1),
  };
};
