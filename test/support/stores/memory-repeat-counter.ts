import { maxMismatches, type RepeatCounter } from '../../../lib/extraction/store.ts';

/** The counter in memory. Its hour never ends. */
export const memoryRepeatCounter = (): RepeatCounter => {
  const counts = new Map<string, { repeats: number; mismatches: number }>();
  const of = (extractionId: string) => counts.get(extractionId) ?? { repeats: 0, mismatches: 0 };
  return {
    count: async (extractionId) => {
      const { repeats, mismatches } = of(extractionId);
      if (repeats >= maxMismatches) return { retryAfter: mismatches < maxMismatches ? 1 : 3_600 };
      counts.set(extractionId, { repeats: repeats + 1, mismatches });
      return 'counted';
    },
    compared: async (extractionId, isSame) => {
      const { repeats, mismatches } = of(extractionId);
      counts.set(extractionId, {
        repeats: isSame ? repeats - 1 : repeats,
        mismatches: isSame ? mismatches : mismatches + 1,
      });
    },
  };
};
