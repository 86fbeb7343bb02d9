import type { ExtractionStore } from '#lib/extraction/store.ts';

/**
 * A store whose first answer to each write is lost, so that the SDK repeats it. The caller gets the second answer, and its
 * own first write may make that one fail.
 */
export const withLostAnswers = (store: ExtractionStore): ExtractionStore => ({
  ...store,
  create: async (record) => {
    await store.create(record);
    return store.create(record);
  },
  apply: async (change) => {
    await store.apply(change);
    return store.apply(change);
  },
});
