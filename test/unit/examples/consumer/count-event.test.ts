import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { consumeExtractionEvents } from '@cosecha/cosecha';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import {
  countEvent,
  type Entry,
  EntryConflict,
  type TotalsStore,
} from '../../../../examples/consumer/count-event.ts';
import { dynamoTotalsStore } from '../../../../examples/consumer/dynamo-totals-store.ts';
import { readConfig } from '../../../../infra/settings/config.ts';
import { stubClient } from '../../../support/aws/stub-client.ts';
import { at, extraction, extractionIn, iso } from '../../../support/data/extraction-fixtures.ts';
import { memoryTotalsStore } from '../../../support/stores/memory-totals-store.ts';
import { streamRecord } from '../../lib/downstream/stream-records.ts';

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
  // Its person asked for an erasure: nothing is counted of what still ran.
  [
    extractionIn('RUNNING'),
    extractionIn('RUNNING', { erasingAt: iso(20) }),
    extractionIn('COMPLETED', { erasingAt: iso(20) }),
  ],
  [extractionIn('TIMED_OUT'), extractionIn('TIMED_OUT', { erasingAt: iso(9_000) })],
];

/** The stream records of an extraction, in order. */
const recordsOf = (extractionId: string, life: readonly Partial<Extraction>[]) => {
  const records = [extraction(), ...life].map((record) => ({ ...record, extractionId }));
  return records.map((record, index) => streamRecord({ old: records[index - 1], new: record }));
};

type Records = ReturnType<typeof recordsOf>;

const deliver = (store: TotalsStore, Records: Records) =>
  consumeExtractionEvents({ Records }, (event) => countEvent(store, event));

const everyLife = () => lives.map((life, index) => recordsOf(`extraction-${index}`, life));

const expected = {
  '2026-03-01 bank#COMPLETED': { extractions: 1, collected: 1, bytes: 100 },
  '2026-03-01 bank#FAILED': { extractions: 1, collected: 0, bytes: 0 },
  '2026-03-02 bank#PARTIAL': { extractions: 1, collected: 0, bytes: 0 },
  '2026-03-01 bank#REJECTED': { extractions: 1, collected: 0, bytes: 0 },
};

describe('the totals of the example', () => {
  test('are right for repeated, late and concurrent records', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(), fc.nat(5)), { maxLength: 30 }),
        fc.infiniteStream(fc.nat()),
        async (repeats, random) => {
          const { store, shown } = memoryTotalsStore();
          const shards = everyLife().map((records) => [...records]);
          const delivered: Records = [];
          // Extractions in any order, the records of each in theirs. In between, repeated batches.
          while (shards.some((shard) => shard.length > 0)) {
            const left = shards.filter((shard) => shard.length > 0);
            const next =
              left[(random.next().value ?? 0) % left.length]?.splice(
                0,
                1 + ((random.next().value ?? 0) % 2),
              ) ?? [];
            delivered.push(...next);
            const [from = 0, length = 1] = repeats.pop() ?? [];
            const again = delivered.slice(from % delivered.length, (from % delivered.length) + length);
            await Promise.all(
              [next, again, again.toReversed()].map((some) => deliver(store, some).catch(() => {})),
            );
            // A record that met a conflict is repeated.
            await deliver(store, next);
          }
          expect(shown()).toEqual(expected);
        },
      ),
      { numRuns: 300, seed: 6 },
    );
  });

  test('leave out an outcome that is replayed after its extraction was reopened', async () => {
    const { store, shown } = memoryTotalsStore();
    const [, , settled = [], reopened = []] = recordsOf('extraction-1', [
      extractionIn('STARTING'),
      extractionIn('UNCONFIRMED'),
      extractionIn('RUNNING'),
    ]).map((record) => [record]);
    await deliver(store, reopened);
    await deliver(store, settled);
    expect(shown()).toEqual({});
  });

  test('keep an extraction whose record is erased or expires', async () => {
    const { store, shown } = memoryTotalsStore();
    const records = recordsOf('extraction-1', [extractionIn('REJECTED')]);
    const Records = [
      ...records,
      streamRecord({ old: { ...extractionIn('REJECTED'), extractionId: 'extraction-1' } }),
    ];
    expect(await deliver(store, Records)).toEqual({ batchItemFailures: [] });
    expect(shown()).toEqual({ '2026-03-01 bank#REJECTED': { extractions: 1, collected: 0, bytes: 0 } });
  });

  test('count a restored record once, as it was restored', async () => {
    const { store, shown } = memoryTotalsStore();
    const settled = { ...extractionIn('COMPLETED'), extractionId: 'extraction-1' };
    const unconfirmed = { ...extractionIn('UNCONFIRMED'), extractionId: 'extraction-1' };
    const shownAfter = async (records: Records) => {
      await deliver(store, records);
      return shown();
    };
    const countedOne = { extractions: 1, collected: 0, bytes: 0 };
    await deliver(store, recordsOf('extraction-1', [settled]));
    expect(await shownAfter([streamRecord({ new: settled })])).toEqual({
      '2026-03-01 bank#COMPLETED': countedOne,
    });
    expect(await shownAfter([streamRecord({ new: unconfirmed })])).toEqual({
      '2026-03-01 bank#UNCONFIRMED': countedOne,
    });
  });

  test('are not written for changes that do not affect them', async () => {
    const { store } = memoryTotalsStore();
    let writes = 0;
    const counting: TotalsStore = {
      ...store,
      replaceEntry: (...entry) => {
        writes += 1;
        return store.replaceEntry(...entry);
      },
    };
    const settled = extractionIn('COMPLETED');
    const Records = recordsOf('extraction-1', [settled, { ...settled, dueAt: iso(99) }]);
    await deliver(counting, Records);
    expect(writes).toBe(1);
  });

  test('are by product for the method consent, and a conflict is an error', async () => {
    const { store } = memoryTotalsStore();
    const Records = recordsOf('extraction-1', [
      { ...extractionIn('COMPLETED'), method: 'consent', product: 'movement' } as Partial<Extraction>,
    ]);
    const entered: Entry[] = [];
    const watched: TotalsStore = {
      ...store,
      replaceEntry: async (_, __, after) => {
        entered.push(after);
        return false;
      },
    };
    await expect(deliver(watched, Records.slice(1))).rejects.toThrow(EntryConflict);
    expect(entered[0]?.contribution).toMatchObject({ source: 'movement', outcome: 'COMPLETED' });
  });
});

type Transaction = { readonly Put?: { readonly Item: Parameters<typeof unmarshall>[0] } };

const DAY = 86_400;

// Otherwise a restored record would be counted a second time.
test('an entry outlives its record, and the retries of its changes', async () => {
  const { client, sent } = stubClient<DynamoDBClient>(() => ({}));
  const store = dynamoTotalsStore(client, { totals: 'Totals', entries: 'Entries' }, () => at(0));
  await store.replaceEntry('extraction-1', undefined, { sequenceNumber: '1' });
  const [{ Put } = {}] = (sent[0]?.input.TransactItems ?? []) as readonly Transaction[];
  const keptDays = (unmarshall(Put?.Item ?? {}).expiresAt - at(0).getTime() / 1000) / DAY;
  const { recordRetentionDays } = readConfig({ stage: 'prod', providerBaseUrl: 'https://provider.example' });
  // The record closes at most 30 days after its outcome. A day in the stream, and 14 in the failure bucket.
  expect(keptDays).toBeGreaterThanOrEqual(30 + recordRetentionDays + 1 + 14);
});
