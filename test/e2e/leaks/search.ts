import { hash } from 'node:crypto';
import { secretFinder } from './find-secrets.ts';
import type { SearchedItem } from './searched-item.ts';
import type { Secret } from './secret.ts';

/** A secret that was found. Its value is left out, because the report is not secret. */
export type Leak = Pick<SearchedItem, 'location' | 'name'> & { readonly kind: Secret['kind'] };

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
): Promise<readonly Leak[]> => {
  const findIn = oncePerContent(secretFinder(secrets));
  const leaks: Leak[] = [];
  for await (const item of items) {
    const { location, name, bytes } = item;
    onItem(item);
    for (const kind of findIn(bytes)) leaks.push({ location, name, kind });
  }
  return leaks;
};
