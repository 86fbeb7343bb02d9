import { addCounts, type CallCounts, noCalls } from '#lib/rate-limit/call-counts.ts';
import type { StartLimiter } from '#lib/rate-limit/start-limiter.ts';
import { countsKey, type InLine, type StartLineStore, type StoredEntry } from '#lib/rate-limit/start-line.ts';
import type { CarryOut } from './store-fault.ts';

/** The index `line`: sorted once, and again only after it has changed. */
const indexOver = (items: Map<string, StoredEntry>) => {
  const sorted: InLine[] = [];
  return {
    remove: (extractionId: string, token?: string): void => {
      const index = sorted.findIndex(
        (one) => one.extractionId === extractionId && (token ?? one.callbackToken) === one.callbackToken,
      );
      if (index !== -1) sorted.splice(index, 1);
    },
    add: (entry: InLine): void => {
      const index = sorted.findIndex(({ slot }) => slot > entry.slot);
      sorted.splice(index === -1 ? sorted.length : index, 0, entry);
    },
    after: (slot: string, limit: number): readonly InLine[] => {
      let [low, high] = [0, sorted.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((sorted[middle] as InLine).slot > slot) high = middle;
        else low = middle + 1;
      }
      return sorted.slice(low, low + limit).filter(({ extractionId }) => items.has(extractionId));
    },
  };
};

/** The table over shared items, with what the state InLine does. */
export const startLineOver = (
  { items, index, lagging, counts }: ReturnType<typeof startLineItems>,
  carryOut: CarryOut,
): StartLineStore => {
  const call = <T>(method: keyof StartLineStore, key: string, effect: () => T): Promise<T> =>
    carryOut({ store: 'line', method, key }, effect);
  return {
    write: (entry) =>
      call('write', entry.extractionId, () => {
        const old = items.get(entry.extractionId);
        if (old?.requestId === entry.requestId && old.attempt >= entry.attempt) return;
        index.remove(entry.extractionId);
        items.set(entry.extractionId, entry);
      }),
    find: (id) => call('find', id, () => items.get(id)),
    remove: (id, requestId) =>
      call('remove', id, () => {
        if (items.get(id)?.requestId !== requestId) return;
        index.remove(id);
        items.delete(id);
      }),
    withdraw: ({ extractionId, requestId, callbackToken }) =>
      call('withdraw', extractionId, () => {
        const item = items.get(extractionId);
        if (item?.requestId !== requestId || item.callbackToken !== callbackToken) return false;
        index.remove(extractionId);
        return items.delete(extractionId);
      }),
    next: (after, limit) => call('next', after, () => index.after(after, limit)),
    leave: ({ extractionId, callbackToken }, releasedAt) =>
      call('leave', extractionId, () => {
        const item = items.get(extractionId);
        if (item?.callbackToken !== callbackToken) return;
        const { callbackToken: _, ...rest } = item;
        lagging(() => index.remove(extractionId, callbackToken));
        items.set(extractionId, { ...rest, releasedAt });
      }),
    count: (second, { kind, key, times, retryAt }) =>
      call('count', countsKey(second), () => {
        const callers = new Map(counts.get(second));
        const before = callers.get(key) ?? noCalls;
        const of = { ...noCalls, [kind]: times, ...(retryAt === undefined ? {} : { retryAt }) };
        callers.set(key, addCounts(before, of));
        counts.set(second, callers);
      }),
    counts: (from, to) =>
      call(
        'counts',
        countsKey(from),
        () => new Map([...counts].filter(([second]) => second >= from && second <= to)),
      ),
  };
};

/** What is stored. `lagging`: the index follows later. `enter` is the state InLine: it adds the token if the item is of this request, and returns whether it did. */
export const startLineItems = (lagging: (effect: () => void) => void = (effect) => effect()) => {
  const items = new Map<string, StoredEntry>();
  const index = indexOver(items);
  return {
    items,
    index,
    lagging,
    counts: new Map<number, ReadonlyMap<string, CallCounts>>(),
    enter: (extractionId: string, requestId: string, callbackToken: string): boolean => {
      const item = items.get(extractionId);
      if (item?.requestId !== requestId) return false;
      const entered = { ...item, callbackToken };
      items.set(extractionId, entered);
      lagging(() => {
        if (items.get(extractionId) !== entered) return;
        // Another try of the state may have put an older token there.
        index.remove(extractionId);
        index.add(entered);
      });
      return true;
    },
  };
};

/** The table `StartLine` in memory. */
export const memoryStartLine = (carryOut: CarryOut = async (_call, effect) => effect()) => {
  const stored = startLineItems();
  return { ...stored, ...startLineOver(stored, carryOut) };
};

/** A line in front of which nobody waits for a rate. Who is held goes in line. */
export const openLine = (
  line: StartLineStore = memoryStartLine(),
): { readonly limiter: StartLimiter; readonly line: StartLineStore } => ({
  line,
  limiter: {
    admit: async () => 'go',
    report: async () => undefined,
    enqueue: (entry) => line.write(entry),
  },
});
