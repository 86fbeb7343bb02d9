import type { BreakerStore, StoredBreaker } from '../../../lib/breaker/breaker-store.ts';
import type { Admission, CircuitBreaker, Shown } from '../../../lib/breaker/circuit-breaker.ts';
import { type CarryOut, inMemory } from './store-fault.ts';

/** A store over shared items. `carryOut` executes each call. */
export const breakerStoreOver = (items: Map<string, StoredBreaker>, carryOut: CarryOut): BreakerStore => {
  return {
    read: (name, consistency) => {
      const method = consistency === 'strongly' ? 'get' : 'read';
      return carryOut({ store: 'breakers', method, key: name }, () => items.get(name));
    },
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

/** The table `Breakers` in memory, with DynamoDB's semantics. */
export const memoryBreakerStore = inMemory(breakerStoreOver);

/** A breaker that answers every start so. `reported` has what was reported, in order. */
export const breakerThat = (
  kind: Admission['kind'],
): { readonly breaker: CircuitBreaker; readonly reported: Shown[] } => {
  const reported: Shown[] = [];
  return {
    reported,
    breaker: {
      admit: async (about) => ({ kind, about, holder: 'this-process', cause: 'http-503' }) as Admission,
      report: async (_admission, seen) => void reported.push(seen),
    },
  };
};

/** A breaker that lets every start pass. */
export const { breaker: closedCircuit } = breakerThat('pass');
