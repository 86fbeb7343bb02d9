/** A copy in random order. `random` returns numbers in [0, 1), as Math.random. */
export const shuffled = <T>(items: readonly T[], random: () => number): readonly T[] =>
  items
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
