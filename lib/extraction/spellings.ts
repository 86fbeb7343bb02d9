import type { NamedEntry, NameIndex } from './store.ts';

/**
 * The spellings of a name: as it was sent, in NFC and in NFD, each once (https://unicode.org/reports/tr15/). Two programs may send the same
 * name in two forms. Each record keeps its caller's form, because callers join on it.
 */
const spellingsOf = (name: string): readonly string[] => [
  ...new Set([name, name.normalize('NFC'), name.normalize('NFD')]),
];

/** Whether two names are the same in NFC. */
export const isSameName = (one: string | undefined, other: string): boolean =>
  one?.normalize('NFC') === other.normalize('NFC');

/** The number of the spelling under which a record has its name. A position in the index needs it. */
export const spellingIn = (name: string, of: string): number => Math.max(0, spellingsOf(of).indexOf(name));

/** An index that searches all spellings of a name, one after the other. */
export const inAnySpelling = (index: NameIndex): NameIndex => ({
  find: async ({ after, ...query }) => {
    const names = spellingsOf(query.name);
    const { spelling: first = 0, ...position } = after ?? {};
    const entries: NamedEntry[] = [];
    for (const [spelling, name] of names.entries()) {
      if (spelling < first) continue;
      const from = spelling === first && after !== undefined ? (position as NamedEntry) : undefined;
      const limit = query.limit - entries.length;
      const found = await index.find({ ...query, name, limit, after: from });
      const placed = (entry: NamedEntry): NamedEntry => (spelling === 0 ? entry : { ...entry, spelling });
      entries.push(...found.entries.map(placed));
      if (found.last !== undefined) return { entries, last: placed(found.last) };
      const last = entries.at(-1);
      const isFull = entries.length >= query.limit && spelling < names.length - 1;
      if (isFull && last !== undefined) return { entries, last };
    }
    return { entries };
  },
});
