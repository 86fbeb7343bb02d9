import { consumeExtractionEvents } from 'cosecha';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Books, BooksBusy, countEvent, type Entry } from '../../../examples/consumer/count-event.ts';
import { movesBetween } from '../../../examples/consumer/dynamo-books.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { extraction, extractionIn, iso } from '../../support/extraction-fixtures.ts';
import { streamRecord } from '../lib/downstream/stream-records.ts';

/** The books in memory, each call a step of its own, so that invocations overlap. */
const memoryBooks = () => {
  const entries = new Map<string, Entry>();
  const totals = new Map<string, { extractions: number; collected: number; bytes: number }>();
  const books: Books = {
    entryOf: async (extractionId) => entries.get(extractionId),
    enter: async (extractionId, before, after) => {
      if (entries.get(extractionId)?.sequenceNumber !== before?.sequenceNumber) return false;
      entries.set(extractionId, after);
      for (const { day, sourceAndOutcome, ...sums } of movesBetween(before?.standing, after.standing)) {
        const key = `${day} ${sourceAndOutcome}`;
        const { extractions, collected, bytes } = totals.get(key) ?? {
          extractions: 0,
          collected: 0,
          bytes: 0,
        };
        totals.set(key, {
          extractions: extractions + sums.extractions,
          collected: collected + sums.collected,
          bytes: bytes + sums.bytes,
        });
      }
      return true;
    },
  };
  const shown = () =>
    Object.fromEntries([...totals].filter(([, sums]) => Object.values(sums).some((sum) => sum !== 0)));
  return { books, shown };
};

const results = { bucket: 'results', key: 'key', bytes: 100, sha256: 'a'.repeat(64) };
const lives: readonly (readonly Partial<Extraction>[])[] = [
  [
    extractionIn('RUNNING'),
    extractionIn('COMPLETED'),
    extractionIn('COMPLETED', { results, collectedAt: iso(40) }),
  ],
  [extractionIn('TIMED_OUT'), extractionIn('FAILED', { settledAt: iso(9_000) })],
  [extractionIn('UNCONFIRMED'), extractionIn('RUNNING'), extractionIn('PARTIAL', { settledAt: iso(86_400) })],
  [extractionIn('REJECTED')],
];

/** The records of a life, as the stream has them, in order. */
const recordsOf = (extractionId: string, life: readonly Partial<Extraction>[]) => {
  const rows = [extraction(), ...life].map((row) => ({ ...row, extractionId }));
  return rows.map((row, index) => streamRecord({ old: rows[index - 1], new: row }));
};

const everyLife = () => lives.map((life, index) => recordsOf(`extraction-${index}`, life));

const expected = {
  '2026-03-01 bank#COMPLETED': { extractions: 1, collected: 1, bytes: 100 },
  '2026-03-01 bank#FAILED': { extractions: 1, collected: 0, bytes: 0 },
  '2026-03-02 bank#PARTIAL': { extractions: 1, collected: 0, bytes: 0 },
  '2026-03-01 bank#REJECTED': { extractions: 1, collected: 0, bytes: 0 },
};

describe('the totals of the example', () => {
  test('are those of the extractions as they stand, whatever came twice, late or at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(), fc.nat(5)), { maxLength: 30 }),
        fc.infiniteStream(fc.nat()),
        async (repeats, random) => {
          const { books, shown } = memoryBooks();
          const shards = everyLife().map((records) => [...records]);
          const told: ReturnType<typeof streamRecord>[] = [];
          const deliver = (Records: ReturnType<typeof streamRecord>[]) =>
            consumeExtractionEvents({ Records }, (event) => countEvent(books, event));
          // Extractions in any order, each one's records in theirs; in between, batches of what was told already.
          while (shards.some((shard) => shard.length > 0)) {
            const left = shards.filter((shard) => shard.length > 0);
            const next =
              left[(random.next().value ?? 0) % left.length]?.splice(
                0,
                1 + ((random.next().value ?? 0) % 2),
              ) ?? [];
            told.push(...next);
            const [from = 0, length = 1] = repeats.pop() ?? [];
            const again = told.slice(from % told.length, (from % told.length) + length);
            await Promise.all(
              [deliver(next), deliver(again), deliver(again.toReversed())].map((answer) =>
                answer.catch(() => {}),
              ),
            );
            // What met another and gave up is named, and comes again.
            await deliver(next);
          }
          expect(shown()).toEqual(expected);
        },
      ),
      { numRuns: 300, seed: 6 },
    );
  });

  test('leave out an outcome that comes late, by hand, when its withdrawal was told already', async () => {
    const { books, shown } = memoryBooks();
    const [, , settled, reopened] = recordsOf('extraction-1', [
      extractionIn('STARTING'),
      extractionIn('UNCONFIRMED'),
      extractionIn('RUNNING'),
    ]);
    for (const record of [reopened, settled]) {
      await consumeExtractionEvents({ Records: record === undefined ? [] : [record] }, (event) =>
        countEvent(books, event),
      );
    }
    expect(shown()).toEqual({});
  });

  test('keep what was counted when its record is erased or expires', async () => {
    const { books, shown } = memoryBooks();
    const records = recordsOf('extraction-1', [extractionIn('REJECTED')]);
    const Records = [
      ...records,
      streamRecord({ old: { ...extractionIn('REJECTED'), extractionId: 'extraction-1' } }),
    ];
    const answer = await consumeExtractionEvents({ Records }, (event) => countEvent(books, event));
    expect(answer).toEqual({ batchItemFailures: [] });
    expect(shown()).toEqual({ '2026-03-01 bank#REJECTED': { extractions: 1, collected: 0, bytes: 0 } });
  });

  test('have a record that is put back from a backup once, as it was put back', async () => {
    const { books, shown } = memoryBooks();
    const settled = { ...extractionIn('COMPLETED'), extractionId: 'extraction-1' };
    const unconfirmed = { ...extractionIn('UNCONFIRMED'), extractionId: 'extraction-1' };
    const told = async (Records: ReturnType<typeof streamRecord>[]) => {
      await consumeExtractionEvents({ Records }, (event) => countEvent(books, event));
      return shown();
    };
    const once = { extractions: 1, collected: 0, bytes: 0 };
    await told(recordsOf('extraction-1', [settled]));
    expect(await told([streamRecord({ new: settled })])).toEqual({ '2026-03-01 bank#COMPLETED': once });
    expect(await told([streamRecord({ new: unconfirmed })])).toEqual({ '2026-03-01 bank#UNCONFIRMED': once });
  });

  test('are not written for what does not concern them', async () => {
    const { books } = memoryBooks();
    let writes = 0;
    const counting: Books = {
      ...books,
      enter: (...entry) => {
        writes += 1;
        return books.enter(...entry);
      },
    };
    const settled = extractionIn('COMPLETED');
    const Records = recordsOf('extraction-1', [settled, { ...settled, dueAt: iso(99) }]);
    await consumeExtractionEvents({ Records }, (event) => countEvent(counting, event));
    expect(writes).toBe(1);
  });

  test('are by product where it is by consent, and hand a busy entry back', async () => {
    const { books } = memoryBooks();
    const Records = recordsOf('extraction-1', [
      { ...extractionIn('COMPLETED'), method: 'consent', product: 'movement' } as Partial<Extraction>,
    ]);
    const entered: Entry[] = [];
    const watched: Books = {
      ...books,
      enter: async (_, __, after) => {
        entered.push(after);
        return false;
      },
    };
    const handling = consumeExtractionEvents({ Records: Records.slice(1) }, (event) =>
      countEvent(watched, event),
    );
    await expect(handling).rejects.toThrow(BooksBusy);
    expect(entered[0]?.standing).toMatchObject({ source: 'movement', outcome: 'COMPLETED' });
  });
});
