import { expect, test } from 'vitest';
import type { EraseMessage, Erasure } from '#lib/extraction/erase/erasure.ts';
import { beginErasure, searchForErasure } from '#lib/extraction/erase/search.ts';
import type { NamedEntry } from '#lib/extraction/store.ts';
import { at, extraction, iso } from '../../../../support/data/extraction-fixtures.ts';
import { memoryErasureStore } from '../../../../support/stores/memory-erasure-store.ts';
import {
  memoryExtractionStore,
  memoryNameIndex,
} from '../../../../support/stores/memory-extraction-store.ts';

const caller = extraction().requestedBy;
const asked: Erasure = {
  erasureId: 'e',
  askedBy: caller,
  askedAt: iso(100),
  reference: 'user 7',
  requestedBy: caller,
};

/** An index with these pages, in order, and the records of their entries. */
const place = (...pages: readonly (readonly string[])[]) => {
  const extractions = memoryExtractionStore();
  const erasures = memoryErasureStore();
  const sent: [EraseMessage, string, number | undefined][] = [];
  const left = [...pages];
  const entry = (extractionId: string): NamedEntry => ({
    extractionId,
    requestedBy: caller,
    requestedAt: iso(0),
  });
  const deps = {
    extractions,
    erasures,
    index: {
      find: async () => {
        const entries = (left.shift() ?? []).map(entry);
        const last = entries.at(-1);
        return { entries, ...(left.length > 0 && last && { last }) };
      },
    },
    send: async (message: EraseMessage, askedBy: string, delay?: number) =>
      void sent.push([message, askedBy, delay]),
    now: () => at(105),
  };
  const add = (extractionId: string, fields = {}) =>
    extractions.items.set(extractionId, extraction({ extractionId, reference: 'user 7', ...fields }));
  return { deps, sent, add, erasures: erasures.items };
};

test('what is asked is kept, then searched for, and the index is read again two minutes later', async () => {
  const { deps, sent, add, erasures } = place(['one', 'two'], ['three']);
  for (const one of ['one', 'two', 'three']) add(one);
  await beginErasure(asked, deps);
  await searchForErasure({ erasureId: 'e' }, deps);
  await searchForErasure(
    { erasureId: 'e', after: { extractionId: 'two', requestedBy: caller, requestedAt: iso(0) } },
    deps,
  );
  expect(sent.map(([message]) => ('erase' in message ? message.erase.extractionId : 'search'))).toEqual([
    'search',
    'one',
    'two',
    'search',
    'three',
    'search',
  ]);
  expect(sent.at(-1)).toEqual([{ search: { erasureId: 'e' }, isLast: true }, caller, 115]);
  expect(new Set(sent.map(([, askedBy]) => askedBy))).toEqual(new Set([caller]));
  expect(erasures.tombstones.size).toBe(3);
  expect(erasures.erasures.get('e')).toEqual({ ...asked, expiresAt: expect.any(Number) });
});

test('a search that is slow leaves the rest to the next message', async () => {
  const { deps, sent, add } = place(['one', 'two', 'three', 'four']);
  for (const one of ['one', 'two', 'three', 'four']) add(one);
  await deps.erasures.create(asked);
  let seconds = 105;
  const bury: typeof deps.erasures.bury = async () => {
    seconds += 30;
  };
  await searchForErasure(
    { erasureId: 'e' },
    { ...deps, erasures: { ...deps.erasures, bury }, now: () => at(seconds) },
  );
  expect(sent.map(([message]) => ('erase' in message ? message.erase.extractionId : message))).toEqual([
    'one',
    'two',
    { search: { erasureId: 'e' }, after: { extractionId: 'two', requestedBy: caller, requestedAt: iso(0) } },
  ]);
});

test('what was asked for and is never searched for expires, with its reference, after 42 days', async () => {
  const { deps, erasures } = place();
  const send = async () => {
    throw new Error('throttled');
  };
  await expect(beginErasure(asked, { ...deps, send })).rejects.toThrow();
  const expiry = Date.parse(asked.askedAt) / 1_000 + 42 * 86_400;
  expect(erasures.erasures.get('e')).toEqual({ ...asked, expiresAt: expiry });
});

test('the last search forgets the reference, and a repetition of it finds nothing to do', async () => {
  const { deps, sent, add, erasures } = place(['late']);
  add('late');
  await deps.erasures.create(asked);
  for (const _time of ['first', 'repeated']) await searchForErasure({ erasureId: 'e', isLast: true }, deps);
  const { reference: _reference, ...kept } = asked;
  expect(erasures.erasures.get('e')).toEqual({
    ...kept,
    expiresAt: expect.any(Number),
    searchedAt: iso(105),
  });
  expect(sent).toEqual([
    [{ erase: { erasureId: 'e', extractionId: 'late', requestId: 'request-1' } }, caller, undefined],
  ]);
});

test('a later request, one of another caller, and one that is gone are left alone', async () => {
  const { deps, sent, add, erasures } = place(['later', 'another', 'renamed', 'gone']);
  add('later', { requestedAt: iso(101) });
  add('another', { requestedBy: 'arn:aws:iam::111122223333:role/Another' });
  add('renamed', { reference: 'user 8' });
  await deps.erasures.create(asked);
  await searchForErasure({ erasureId: 'e', isLast: true }, deps);
  expect([sent, erasures.tombstones.size]).toEqual([[], 0]);
});

test('a reference in NFC finds the records in NFD, also where a search goes on in another message', async () => {
  const { deps, sent, add, erasures } = place();
  const reference = 'Ñuñoa'.normalize('NFC');
  for (const [index, form] of (['NFC', 'NFD', 'NFD'] as const).entries()) {
    add(`one-${index}`, { reference: reference.normalize(form) });
  }
  const index = memoryNameIndex(deps.extractions.items);
  const find: typeof index.find = (query) => index.find({ ...query, limit: 1 });
  await deps.erasures.create({ ...asked, reference });
  let after: NamedEntry | undefined;
  do {
    await searchForErasure({ erasureId: 'e', isLast: true, after }, { ...deps, index: { find } });
    const [message] = sent.at(-1) ?? [];
    after = message !== undefined && 'search' in message ? message.after : undefined;
  } while (after !== undefined && sent.length < 20);
  expect([...erasures.tombstones.keys()]).toHaveLength(3);
  expect(erasures.erasures.get('e')?.searchedAt).toBe(iso(105));
  // A reference may be a person's name, and goes to no queue.
  expect(JSON.stringify(sent).normalize('NFC')).not.toContain(reference);
});

test('one extraction is searched for once', async () => {
  const { deps, sent, add, erasures } = place();
  add('one');
  const { reference: _reference, requestedBy: _caller, ...byId } = asked;
  await deps.erasures.create({ ...byId, extractionId: 'one' });
  await searchForErasure({ erasureId: 'e' }, deps);
  expect(sent).toHaveLength(1);
  expect(erasures.erasures.get('e')?.searchedAt).toBe(iso(105));
});
