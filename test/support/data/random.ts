/** Uniform random numbers from a seed (splitmix32), the same on every machine. */
export type Random = {
  /** In [0, 1). */
  next(): number;
  /** In 0..below-1. */
  below(below: number): number;
  pick<T>(from: readonly T[]): T;
};

class NothingToPick extends Error {
  override readonly name = 'NothingToPick';
}

export const randomOf = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) / 0x1_0000_0000;
  };
  const below = (most: number): number => Math.floor(next() * most);
  return {
    next,
    below,
    pick: <T>(from: readonly T[]): T => {
      if (from.length === 0) throw new NothingToPick('There is nothing to pick from.');
      return from[below(from.length)] as T;
    },
  };
};

/** A copy in random order. `random` returns numbers in [0, 1), as Math.random. */
export const shuffled = <T>(items: readonly T[], random: () => number): readonly T[] =>
  items
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);

const hashOf = (text: string): number => {
  let hash = 0;
  for (const letter of text) hash = Math.imul(hash, 31) + letter.charCodeAt(0);
  return hash;
};

/** A stream of its own for each name. */
export const randomFor = (seed: number, name: string): Random => randomOf(seed ^ hashOf(name));
