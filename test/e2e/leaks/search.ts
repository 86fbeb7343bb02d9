import { secretFinder } from './find-secrets.ts';
import type { Location, SearchedItem } from './searched-item.ts';
import type { Secret } from './secret.ts';

/** A secret in a place: never which value, as whoever reads of it may not be meant to have it. */
export type Leak = Pick<SearchedItem, 'location' | 'name'> & { readonly kind: Secret['kind'] };

export type Searched = {
  readonly leaks: readonly Leak[];
  /** Per place, how much was looked at. */
  readonly places: ReadonlyMap<Location, { readonly pieces: number; readonly bytes: number }>;
};

/** Looks for every secret in every piece. `onPiece` sees each, too. */
export const search = async (
  items: AsyncIterable<SearchedItem>,
  secrets: readonly Secret[],
  onPiece: (item: SearchedItem) => void = () => {},
): Promise<Searched> => {
  const findIn = secretFinder(secrets);
  const leaks: Leak[] = [];
  const places = new Map<Location, { pieces: number; bytes: number }>();
  for await (const item of items) {
    const { location, name, bytes } = item;
    onPiece(item);
    const soFar = places.get(location) ?? { pieces: 0, bytes: 0 };
    places.set(location, { pieces: soFar.pieces + 1, bytes: soFar.bytes + bytes.length });
    for (const kind of findIn(bytes)) leaks.push({ location, name, kind });
  }
  return { leaks, places };
};
