import type { BreakerStore, StoredBreaker } from '../../lib/breaker/breaker-store.ts';
import type { Attempt, CircuitBreaker } from '../../lib/breaker/circuit-breaker.ts';
import { type CarryOut, type StoreFaults, underFaults } from './store-fault.ts';

export type MemoryBreakerStore = BreakerStore & { readonly items: Map<string, StoredBreaker> };

/** The table `Breakers` in memory, with DynamoDB's semantics. */
export const memoryBreakerStore = (faults: StoreFaults = {}): MemoryBreakerStore => {
  const items = new Map<string, StoredBreaker>();
  return { items, ...breakerStoreOver(items, underFaults(faults)) };
};

/** A store over shared items. `carryOut` executes each call. */
export const breakerStoreOver = (items: Map<string, StoredBreaker>, carryOut: CarryOut): BreakerStore => {
  return {
    read: (name) => carryOut({ store: 'breakers', method: 'read', key: name }, () => items.get(name)),
    replace: (name, previous, next) =>
      carryOut({ store: 'breakers', method: 'replace', key: name }, () => {
        if (items.get(name)?.version !== previous) return items.get(name);
        // An item has its key, which a successful write does not return.
        const item = { name, ...next };
        items.set(name, item);
        return next;
      }),
  };
};

/** A breaker that admits every call as this kind, or holds it. `noted` has what passed it, in order, and the end of each use. */
export const circuitOf = (
  kind: Attempt['kind'] | 'held',
): { readonly breaker: CircuitBreaker; readonly noted: string[] } => {
  const noted: string[] = [];
  const note =
    (name: string): Attempt['make'] =>
    async (call) => {
      try {
        const value = await call();
        noted.push(name);
        return value;
      } catch (error) {
        noted.push(`${name} failed`);
        throw error;
      }
    };
  return {
    noted,
    breaker: {
      run: async (_id, use, { isLast = false } = {}) => {
        if (isLast) noted.push('last');
        if (kind === 'held') return { kind };
        try {
          return { kind: 'made', value: await use({ kind, prepare: note('prepare'), make: note('make') }) };
        } finally {
          noted.push('end');
        }
      },
      countFailure: async () => undefined,
    },
  };
};

/** A breaker that admits every call. */
export const { breaker: closedCircuit } = circuitOf('ordinary');
