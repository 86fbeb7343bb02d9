import type { Admission, CircuitBreaker, Shown } from '#lib/breaker/circuit-breaker.ts';
import { type PermitStore, permitItem } from '#lib/rate-limit/permit.ts';
import type { SharedItemStore, StoredItem } from '#lib/shared-item/shared-item.ts';
import { type CarryOut, inMemory } from './store-fault.ts';

/** A store over shared items. `carryOut` executes each call. */
export const breakerStoreOver = (items: Map<string, StoredItem>, carryOut: CarryOut): SharedItemStore => {
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

/** The item of the permit in the same table. */
export const permitStoreOver = (items: Map<string, StoredItem>, carryOut: CarryOut): PermitStore => ({
  update: (update) =>
    carryOut({ store: 'breakers', method: 'update', key: permitItem }, () => {
      const { next } = (items.get(permitItem) ?? {}) as { readonly next?: number };
      const isBetween = next !== undefined && next >= update.from && next <= (update.to ?? Infinity);
      if (isBetween !== (update.kind === 'add')) return { kind: 'refused', next } as const;
      const taken = update.kind === 'add' ? (next ?? 0) + update.ms : update.next;
      items.set(permitItem, { name: permitItem, next: taken } as StoredItem);
      return { kind: 'taken', next: taken } as const;
    }),
});

/** A breaker that answers every start so. `reported` has what was reported, in order. */
export const breakerThat = (
  kind: Admission['kind'],
): { readonly breaker: CircuitBreaker; readonly reported: Shown[] } => {
  const reported: Shown[] = [];
  return {
    reported,
    breaker: {
      admit: async (about) => ({ kind, about, holder: 'this-process', cause: 'http-503' }) as Admission,
      report: async (_admission, seen) => reported.push(seen) < 0,
    },
  };
};

/** A breaker that lets every start pass. */
export const { breaker: closedCircuit } = breakerThat('pass');
