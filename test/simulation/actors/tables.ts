import { dueShardOf } from '#lib/extraction/due.ts';
import type {
  ExtractionStore,
  RefusedCredentialsStore,
  RequestStore,
  TaskStore,
} from '#lib/extraction/store.ts';
import { extractionStoreOver } from '../../support/stores/memory-extraction-store.ts';
import { refusalStoreOver } from '../../support/stores/memory-refused-credentials-store.ts';
import { requestStoreOver } from '../../support/stores/memory-request-store.ts';
import { taskStoreOver } from '../../support/stores/memory-task-store.ts';
import type { CarryOut } from '../../support/stores/store-fault.ts';
import type { Process } from '../world/process.ts';
import { theExtraction } from '../world/the-extraction.ts';
import type { World } from '../world/world.ts';

const shard = String(dueShardOf(theExtraction));

/** Other answers of the index `due`, which is eventually consistent. */
const staleIndex = [
  { name: 'index lags, record missing', take: () => [] as never },
  {
    name: 'index lags, record still there',
    take: () => [{ extractionId: theExtraction, dueAt: '2026-03-01T12:00:00.000Z' }] as never,
  },
];

/** The same store, noting for a process which state of the record it has seen last, and whether it takes another's write for its own. */
const notedBy = (world: World, process: Process, store: ExtractionStore): ExtractionStore => ({
  ...store,
  get: async (extractionId) => {
    process.lastSeen = await store.get(extractionId);
    process.firstSeen ??= process.lastSeen;
    return process.lastSeen;
  },
  apply: async (change) => {
    const applied = await store.apply(change);
    process.lastSeen = applied.record;
    if (applied.record !== undefined && !applied.applied) world.noteRefusal(process, change, applied.record);
    return applied;
  },
});

/** The tables for one process. The scheduler decides about every call. */
export const tablesFor = (
  world: World,
  process: Process,
): {
  readonly extractions: ExtractionStore;
  readonly tasks: TaskStore;
  readonly requests: RequestStore;
  readonly refusals: RefusedCredentialsStore;
  readonly keptDays: number;
} => {
  const carryOut: CarryOut = (call, effect) => {
    const { store, method, key } = call;
    // The other fifteen shards are empty, so there is nothing to decide.
    if (method === 'due' && key !== shard) return Promise.resolve(effect());
    const take = (): ReturnType<typeof effect> => {
      const answer = effect();
      if (method === 'create') world.lossesBefore.set(process, world.losses);
      return answer;
    };
    return world.kernel.call(process, {
      name: `${method} ${store}`,
      kind: method === 'get' || method === 'due' ? 'read' : 'write',
      take,
      ...(method === 'due' ? { others: staleIndex } : {}),
    });
  };
  const counted: CarryOut = async (call, effect) => {
    const { requestCalls } = world;
    requestCalls.made += 1;
    const answer = await carryOut(call, () => {
      requestCalls.effects += 1;
      return effect();
    });
    requestCalls.answered += 1;
    return answer;
  };
  return {
    requests: requestStoreOver(world.requests, counted),
    extractions: notedBy(world, process, extractionStoreOver(world.extractions, carryOut)),
    tasks: taskStoreOver(world.tasks, carryOut),
    refusals: refusalStoreOver(world.refusals, carryOut),
    keptDays: world.scenario.marks === undefined ? 0 : 7,
  };
};
