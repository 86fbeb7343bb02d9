import { closedBreaker } from '../../lib/breaker/breaker-state.ts';
import type { BreakerStore, StoredBreaker } from '../../lib/breaker/breaker-store.ts';
import type { CircuitBreaker } from '../../lib/breaker/circuit-breaker.ts';
import { type CarryOut, type StoreFaults, underFaults } from './store-fault.ts';

export type MemoryBreakerStore = BreakerStore & { readonly rows: Map<string, StoredBreaker> };

/** The table `Breakers` in memory, with DynamoDB's semantics. */
export const memoryBreakerStore = (faults: StoreFaults = {}): MemoryBreakerStore => {
  const rows = new Map<string, StoredBreaker>();
  return { rows, ...breakerStoreOver(rows, underFaults(faults)) };
};

/** A store over shared rows. `carryOut` executes each call. */
export const breakerStoreOver = (rows: Map<string, StoredBreaker>, carryOut: CarryOut): BreakerStore => {
  const stored = (name: string): StoredBreaker => rows.get(name) ?? { state: closedBreaker };
  return {
    read: (name) => carryOut({ store: 'breakers', method: 'read', key: name }, () => stored(name)),
    replace: (name, previous, next) =>
      carryOut({ store: 'breakers', method: 'replace', key: name }, () => {
        if (stored(name).version === previous.version) rows.set(name, next);
        return stored(name);
      }),
  };
};

/** A breaker that admits every call. */
export const closedCircuit: CircuitBreaker = {
  admit: async () => ({ kind: 'pass' }),
  report: async () => undefined,
};
