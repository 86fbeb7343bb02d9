import { maxMismatches, type RepeatCounter } from '#lib/extraction/store.ts';

type Item = {
  readonly credentialsMac: string;
  readonly expiresAt: number;
  readonly repeats: number;
  readonly mismatches?: number;
};

/** The counter in memory, with its items in the table `Refusals`. */
export const memoryRepeatCounter = (): RepeatCounter & { readonly items: ReadonlyMap<string, Item> } => {
  const items = new Map<string, Item>();
  const keyOf = (extractionId: string) => `repeats/${extractionId}`;
  return {
    items,
    count: async (extractionId, now) => {
      const credentialsMac = keyOf(extractionId);
      const seconds = Math.floor(now.getTime() / 1_000);
      const found = items.get(credentialsMac);
      if (found === undefined || found.expiresAt <= seconds) {
        items.set(credentialsMac, { credentialsMac, expiresAt: seconds + 3_600, repeats: 1 });
        return 'counted';
      }
      const { repeats, mismatches = 0, expiresAt } = found;
      if (repeats >= maxMismatches)
        return { retryAfter: mismatches < maxMismatches ? 1 : expiresAt - seconds };
      items.set(credentialsMac, { ...found, repeats: repeats + 1 });
      return 'counted';
    },
    compared: async (extractionId, isSame) => {
      const found = items.get(keyOf(extractionId));
      if (found === undefined || found.repeats <= 0) return;
      const changed = isSame ? { repeats: found.repeats - 1 } : { mismatches: (found.mismatches ?? 0) + 1 };
      items.set(found.credentialsMac, { ...found, ...changed });
    },
  };
};
