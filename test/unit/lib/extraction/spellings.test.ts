import { describe, expect, test } from 'vitest';
import { inAnySpelling, isSameName } from '#lib/extraction/spellings.ts';
import type { NamedEntry, NameQuery } from '#lib/extraction/store.ts';
import { extraction } from '../../../support/data/extraction-fixtures.ts';
import { memoryNameIndex } from '../../../support/stores/memory-extraction-store.ts';

const composed = 'Ñuñoa'.normalize('NFC');
const decomposed = composed.normalize('NFD');

test('a name is the same in NFC and in NFD, and another in another case', () => {
  expect(composed).not.toBe(decomposed);
  expect(isSameName(composed, decomposed)).toBe(true);
  expect(isSameName(decomposed, composed.toLowerCase())).toBe(false);
  expect(isSameName(undefined, composed)).toBe(false);
});

const records = new Map(
  [composed, decomposed, decomposed, composed, 'Nunoa'].map((reference, index) => {
    const extractionId = `e-${index}`;
    return [extractionId, extraction({ extractionId, reference })] as const;
  }),
);
const index = memoryNameIndex(records);

/** All ids in pages of this size. */
const read = async (name: string, limit: number) => {
  const ids: string[] = [];
  let after: NamedEntry | undefined;
  do {
    const page = await index.find({ by: 'reference', name, limit, after });
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    ids.push(...page.entries.map(({ extractionId }) => extractionId));
    after = page.last;
  } while (after !== undefined);
  return ids;
};

describe.each([1, 2, 3, 10])('in pages of %d', (limit) => {
  test.each([
    ['NFC', composed],
    ['NFD', decomposed],
  ])('a name in %s finds the records of both forms, each once, its own form first', async (_, name) => {
    const ids = await read(name, limit);
    expect(ids.toSorted()).toEqual(['e-0', 'e-1', 'e-2', 'e-3']);
    expect(records.get(ids[0] ?? '')?.reference).toBe(name);
    expect(await read('Nunoa', limit)).toEqual(['e-4']);
  });
});

test('a name that has one form is searched for once, and no position names it', async () => {
  const queries: NameQuery[] = [];
  const { find } = inAnySpelling({
    find: async (query) => {
      queries.push(query);
      return { entries: [{ extractionId: 'e', requestedBy: 'r', requestedAt: 't' }] };
    },
  });
  await find({ by: 'batch', name: 'morning', limit: 10 });
  expect(queries).toHaveLength(1);
  const found = await find({ by: 'batch', name: decomposed, limit: 10 });
  expect(queries.map(({ name }) => name)).toEqual(['morning', decomposed, composed]);
  expect(JSON.stringify(found)).not.toContain(decomposed);
});
