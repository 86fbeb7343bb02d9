import type { ErasedOne, Erasure, ErasureStore, Tombstone } from '#lib/extraction/erase/erasure.ts';

type Call = { readonly method: keyof ErasureStore; readonly key: string };
type Items = {
  readonly erasures: Map<string, Erasure>;
  readonly tombstones: Map<string, Tombstone>;
  /** The last erasure of a scope. */
  readonly scopes?: Map<string, string>;
};

const keyOf = ({ erasureId, extractionId, requestId }: ErasedOne): string =>
  `${erasureId} ${extractionId}/${requestId}`;

/** The table `Erasures` over shared items. `carryOut` executes each call. */
export const erasureStoreOver = (
  { erasures, tombstones, scopes = new Map() }: Items,
  carryOut: <T>(call: Call, effect: () => T) => Promise<T>,
): ErasureStore => {
  const change = (method: keyof ErasureStore, of: ErasedOne, fields: Partial<Tombstone>): Promise<void> =>
    carryOut({ method, key: 'tombstone' }, () => {
      const found = tombstones.get(keyOf(of));
      const { removingAt, erasedAt } = found ?? {};
      const kept = { ...(removingAt && { removingAt }), ...(erasedAt && { erasedAt }) };
      tombstones.set(keyOf(of), { ...of, ...found, ...fields, ...kept });
    });
  return {
    create: (erasure) =>
      carryOut({ method: 'create', key: 'erasure' }, () => {
        if (!erasures.has(erasure.erasureId)) erasures.set(erasure.erasureId, erasure);
      }),
    lastOf: (scopeMac) => carryOut({ method: 'lastOf', key: 'scope' }, () => scopes.get(scopeMac)),
    createFor: (scopeMac, erasure, replaced) =>
      carryOut({ method: 'createFor', key: 'scope' }, () => {
        if (scopes.get(scopeMac) !== replaced || erasures.has(erasure.erasureId)) return false;
        scopes.set(scopeMac, erasure.erasureId);
        erasures.set(erasure.erasureId, erasure);
        return true;
      }),
    get: (erasureId) => carryOut({ method: 'get', key: 'erasure' }, () => erasures.get(erasureId)),
    finishSearch: (erasureId, searchedAt, expiresAt) =>
      carryOut({ method: 'finishSearch', key: 'erasure' }, () => {
        const { reference: _reference, ...found } = erasures.get(erasureId) ?? ({ erasureId } as Erasure);
        erasures.set(erasureId, { ...found, searchedAt, expiresAt });
      }),
    bury: (tombstone) =>
      carryOut({ method: 'bury', key: 'tombstone' }, () => {
        if (!tombstones.has(keyOf(tombstone))) tombstones.set(keyOf(tombstone), tombstone);
      }),
    setRemoving: (of, removingAt, expiresAt) => change('setRemoving', of, { removingAt, expiresAt }),
    setErased: (of, erasedAt, expiresAt) => change('setErased', of, { erasedAt, expiresAt }),
  };
};

/** The table `Erasures` in memory. */
export const memoryErasureStore = () => {
  const items = {
    erasures: new Map<string, Erasure>(),
    tombstones: new Map<string, Tombstone>(),
    scopes: new Map<string, string>(),
  };
  return { items, ...erasureStoreOver(items, async (_call, effect) => effect()) };
};
