/** One call of a store, as a fault hook sees it. */
export type StoreCall = {
  readonly store: 'extractions' | 'tasks';
  readonly method: 'create' | 'get' | 'apply' | 'due' | 'link' | 'notify' | 'adopt';
  /** The key that the call is about; a shard number for `due`. */
  readonly key: string;
};

/**
 * Lets a test break a store. A hook that throws breaks the call: `before` it took effect, or `after`, when
 * the caller cannot tell whether it did. A hook may also wait, so that calls interleave.
 */
export type StoreFaults = {
  readonly before?: (call: StoreCall) => void | Promise<void>;
  readonly after?: (call: StoreCall) => void | Promise<void>;
};

/** Carries out one call of a store: decides when, whether and how often its effect takes place. */
export type CarryOut = <T>(call: StoreCall, effect: () => T) => Promise<T>;

/** Runs one call of a store under its faults. The effect itself is synchronous, hence atomic. */
export const underFaults =
  (faults: StoreFaults): CarryOut =>
  async (call, effect) => {
    await faults.before?.(call);
    const result = effect();
    await faults.after?.(call);
    return result;
  };
