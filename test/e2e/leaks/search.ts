import { hash } from 'node:crypto';
import { secretFinder } from './find-secrets.ts';
import type { Location, SearchedItem } from './searched-item.ts';
import type { Secret } from './secret.ts';

/** A secret that was found. Its value is left out, because the report is not secret. */
export type Leak = Pick<SearchedItem, 'location' | 'name'> & { readonly kind: Secret['kind'] };

export type Searched = {
  readonly leaks: readonly Leak[];
  /** How much was searched, by location. */
  readonly totals: ReadonlyMap<Location, { readonly items: number; readonly bytes: number }>;
};

type Find = ReturnType<typeof secretFinder>;

/** Every process of a function has a copy of its bundle: the same bytes are searched once. */
const oncePerContent = (find: Find): Find => {
  const known = new Map<string, ReturnType<Find>>();
  return (bytes) => {
    const digest = hash('sha1', bytes);
    const found = known.get(digest) ?? find(bytes);
    known.set(digest, found);
    return found;
  };
};

/** Searches every item for every secret, and calls `onItem` with each item. */
export const search = async (
  items: AsyncIterable<SearchedItem>,
  secrets: readonly Secret[],
  onItem: (item: SearchedItem) => void = () => {},
): Promise<Searched> => {
  const findIn = oncePerContent(secretFinder(secrets));
  const leaks: Leak[] = [];
  const totals = new Map<Location, { items: number; bytes: number }>();
  for await (const item of items) {
    const { location, name, bytes } = item;
    onItem(item);
    const soFar = totals.get(location) ?? { items: 0, bytes: 0 };
    totals.set(location, { items: soFar.items + 1, bytes: soFar.bytes + bytes.length });
    for (const kind of findIn(bytes)) leaks.push({ location, name, kind });
  }
  return { leaks, totals };
};
