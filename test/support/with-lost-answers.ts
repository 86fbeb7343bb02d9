import type { ExtractionStore } from '../../lib/extraction/store.ts';

/**
 * A store whose answers to writes are lost on the way, so that the SDK sends each a second time: what the caller
 * gets to see is the second answer, which its own first write may have made fail.
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
