import { secretFinder } from './find-secrets.ts';
import type { Piece, Place } from './piece.ts';
import type { Secret } from './secret.ts';

/** A secret in a place: never which value, as whoever reads of it may not be meant to have it. */
export type Leak = Pick<Piece, 'place' | 'name'> & { readonly kind: Secret['kind'] };

export type Searched = {
  readonly leaks: readonly Leak[];
  /** Per place, how much was looked at. */
  readonly places: ReadonlyMap<Place, { readonly pieces: number; readonly bytes: number }>;
};

/** Looks for every secret in every piece. `onPiece` sees each, too. */
export const search = async (
  pieces: AsyncIterable<Piece>,
  secrets: readonly Secret[],
  onPiece: (piece: Piece) => void = () => {},
): Promise<Searched> => {
  const findIn = secretFinder(secrets);
  const leaks: Leak[] = [];
  const places = new Map<Place, { pieces: number; bytes: number }>();
  for await (const piece of pieces) {
    const { place, name, bytes } = piece;
    onPiece(piece);
    const soFar = places.get(place) ?? { pieces: 0, bytes: 0 };
    places.set(place, { pieces: soFar.pieces + 1, bytes: soFar.bytes + bytes.length });
    for (const kind of findIn(bytes)) leaks.push({ place, name, kind });
  }
  return { leaks, places };
};
