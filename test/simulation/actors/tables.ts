import { dueShardOf } from '../../../lib/extraction/due-shard.ts';
import type { ExtractionStore, TaskStore } from '../../../lib/extraction/store.ts';
import { extractionStoreOver } from '../../support/memory-extraction-store.ts';
import { taskStoreOver } from '../../support/memory-task-store.ts';
import type { CarryOut } from '../../support/store-fault.ts';
import type { Process } from '../world/process.ts';
import { theExtraction } from '../world/the-extraction.ts';
import type { World } from '../world/world.ts';

const shard = String(dueShardOf(theExtraction));

/** What the scheduler may do to a read of the index `due`, which is eventually consistent. */
const staleIndex = [
  { name: 'the index lags: not there yet', take: () => [] as never },
  { name: 'the index lags: still there', take: () => [theExtraction] as never },
];

/** The same store to a process that remembers what it was shown of the record. */
const rememberedBy = (process: Process, store: ExtractionStore): ExtractionStore => ({
  ...store,
  get: async (extractionId) => {
    process.shown = await store.get(extractionId);
    return process.shown;
  },
  apply: async (change) => {
    const applied = await store.apply(change);
    process.shown = applied.record;
    return applied;
  },
});

/** Both tables as one process sees them: every call is a point at which the scheduler decides. */
export const tablesFor = (
  world: World,
  process: Process,
): { readonly extractions: ExtractionStore; readonly tasks: TaskStore } => {
  const carryOut: CarryOut = (call, effect) => {
    const { store, method, key } = call;
    // Fifteen shards hold nothing: to ask them is no decision.
    if (method === 'due' && key !== shard) return Promise.resolve(effect());
    const take = (): ReturnType<typeof effect> => {
      const answer = effect();
      if (method === 'create') world.askedFor.set(process, world.losses);
      return answer;
    };
    return world.kernel.call(process, process.name, {
      name: `${method} ${store}`,
      kind: method === 'get' || method === 'due' ? 'read' : 'write',
      take,
      ...(method === 'due' ? { others: staleIndex } : {}),
    });
  };
  return {
    extractions: rememberedBy(process, extractionStoreOver(world.extractions, carryOut)),
    tasks: taskStoreOver(world.tasks, carryOut),
  };
};
