import type {
  ExtractionStore,
  RefusedCredentialsStore,
  RequestStore,
  TaskStore,
} from '#lib/extraction/store.ts';
import type { PermitStore } from '#lib/rate-limit/permit.ts';
import type { StartLineStore } from '#lib/rate-limit/start-line.ts';
import type { SharedItemStore } from '#lib/shared-item/shared-item.ts';

/** A call of a store. */
export type StoreCall = {
  readonly store: 'extractions' | 'tasks' | 'requests' | 'refusals' | 'breakers' | 'line';
  readonly method: keyof (SharedItemStore &
    ExtractionStore &
    PermitStore &
    RefusedCredentialsStore &
    RequestStore &
    StartLineStore &
    TaskStore);
  /** The key of the item. For `due`, the shard number. */
  readonly key: string;
};

/**
 * Fault hooks of a store. A hook that throws makes the call fail `before` or `after` it took effect. A hook may also wait,
 * so that calls interleave.
 */
export type StoreFaults = {
  readonly before?: (call: StoreCall) => void | Promise<void>;
  readonly after?: (call: StoreCall) => void | Promise<void>;
};

/** Executes a call of a store. It decides when, whether and how often the effect happens. */
export type CarryOut = <T>(call: StoreCall, effect: () => T) => Promise<T>;

/** Executes a call between its fault hooks. The effect is synchronous, so it is atomic. */
const underFaults =
  (faults: StoreFaults): CarryOut =>
  async (call, effect) => {
    await faults.before?.(call);
    const result = effect();
    await faults.after?.(call);
    return result;
  };

/** Makes a store over items of its own, which tests may read and set, from one over shared items. */
export const inMemory =
  <Item, Store>(over: (items: Map<string, Item>, carryOut: CarryOut) => Store) =>
  (faults: StoreFaults = {}) => {
    const items = new Map<string, Item>();
    return { items, ...over(items, underFaults(faults)) };
  };
