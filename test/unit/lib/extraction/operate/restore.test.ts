import { describe, expect, test } from 'vitest';
import { erasedKey, judgeRecord, type RestoreDeps, restore } from '#lib/extraction/operate/restore.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import {
  at,
  closedExtraction,
  extraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../../support/stores/memory-extraction-store.ts';

const now = at(5_000);
const judge = (record: Extraction) => judgeRecord(record, now, timings.recordRetention);

describe('a record of the backup', () => {
  test.each(['REQUESTED', 'STARTING'] as const)('in %s is restored as UNCONFIRMED and closed', (status) => {
    const record = extractionIn(status);
    const { dueShard: _dueShard, dueAt: _dueAt, ...rest } = record;
    // What the next try would have needed is left out.
    expect(judge({ ...record, notBefore: iso(6_000), lastProblem: 'http-429' })).toEqual({
      kind: 'unconfirmed',
      record: {
        ...rest,
        status: 'UNCONFIRMED',
        reason: 'restored',
        advice: 'ask-provider',
        settledAt: iso(5_000),
        settledBy: 'reconcile',
        expiresAt: Math.floor(now.getTime() / 1000) + timings.recordRetention,
      },
    });
  });

  test.each(['RUNNING', 'TIMED_OUT', 'COMPLETED'] as const)(
    'that was %s and open comes back as it was, due now',
    (status) => {
      const record = extractionIn(status);
      expect(judge(record)).toEqual({ kind: 'due', record: { ...record, dueAt: iso(5_000) } });
    },
  );

  test('that is closed is restored unchanged', () => {
    const record = closedExtraction({
      status: 'REJECTED',
      expiresAt: Math.floor(at(9_000).getTime() / 1000),
    });
    expect(judge(record)).toEqual({ kind: 'closed', record });
  });

  test('whose retention is over is not restored', () => {
    expect(judge(closedExtraction({ status: 'COMPLETED', expiresAt: 1 }))).toEqual({ kind: 'expired' });
  });

  test('that is not a record is not restored', () => {
    expect(judge({ extractionId: id, status: 'PAID' } as unknown as Extraction)).toEqual({
      kind: 'unreadable',
    });
  });
});

const live = (over: Partial<RestoreDeps> = {}) => {
  const store = memoryExtractionStore();
  const reported: string[] = [];
  const forgotten: string[] = [];
  const deps: RestoreDeps = {
    requests: { remove: async (requestId) => void forgotten.push(requestId) },
    createMissing: async (records) => {
      const creations = await Promise.all(records.map(store.create));
      return creations.flatMap((creation) => (creation.created ? [] : [creation.record]));
    },
    find: async (ids) => [...store.items.values()].filter(({ extractionId }) => ids.includes(extractionId)),
    erased: new Set(),
    dryRun: false,
    now: () => now,
    recordRetention: timings.recordRetention,
    onRecord: (extractionId, kind) => void reported.push(`${extractionId} ${kind}`),
    ...over,
  };
  return { store, deps, reported, forgotten };
};

async function* pagesOf(...pages: readonly (readonly Extraction[])[]): AsyncGenerator<readonly Extraction[]> {
  yield* pages;
}

const backup = (...records: readonly Extraction[]) => [pagesOf(records)];

describe('restoring', () => {
  test('never overwrites a record, and reports a record of another request', async () => {
    const { store, deps, reported } = live();
    const mine = extractionIn('COMPLETED', { extractionId: 'one' });
    const other = extraction({ extractionId: 'two', requestId: 'request-2' });
    store.items.set('one', mine);
    store.items.set('two', other);
    const records = [extractionIn('RUNNING', { extractionId: 'one' }), extraction({ extractionId: 'two' })];
    const counts = { present: 1, 'requested-again': 1, due: 0 };
    expect(await restore(backup(...records), deps)).toMatchObject(counts);
    expect([...store.items.values()]).toEqual([mine, other]);
    expect(reported).toEqual(['one present', 'two requested-again']);
  });

  test('leaves out what was erased, and not a later request under the same key', async () => {
    const erased = extractionIn('COMPLETED', { extractionId: 'one' });
    const later = extractionIn('COMPLETED', { extractionId: 'one', requestId: 'request-2' });
    for (const [record, kind] of [
      [erased, 'erased'],
      [later, 'due'],
    ] as const) {
      const { store, deps, reported } = live({ erased: new Set([erasedKey(erased)]) });
      expect(await restore(backup(record), deps)).toMatchObject({ [kind]: 1 });
      expect(reported).toEqual([`one ${kind}`]);
      expect(store.items.size).toBe(kind === 'due' ? 1 : 0);
    }
  });

  test('writes nothing in a dry run', async () => {
    const { store, deps, reported, forgotten } = live({ dryRun: true });
    expect(await restore(backup(extractionIn('STARTING')), deps)).toMatchObject({ unconfirmed: 1 });
    expect(store.items.size).toBe(0);
    expect([reported, forgotten]).toEqual([[`${id} unconfirmed`], []]);
  });

  test('forgets the request of a start that is never made again, and of no other record', async () => {
    const { store, deps, forgotten } = live();
    store.items.set('present', extractionIn('STARTING', { extractionId: 'present', requestId: 'present' }));
    const ids = ['present', 'starting', 'requested'];
    const records = ids.map((extractionId) =>
      extractionIn('STARTING', { extractionId, requestId: extractionId }),
    );
    await restore(backup(...records, extractionIn('RUNNING')), deps);
    expect(forgotten.toSorted()).toEqual(['requested', 'starting']);
  });

  test('forgets the request also if its own write was repeated, or an earlier command ended before it did', async () => {
    const { store, deps, forgotten } = live();
    const { createMissing } = deps;
    const twice: RestoreDeps['createMissing'] = async (records) => {
      await createMissing(records);
      return createMissing(records);
    };
    const records = [extractionIn('STARTING'), extractionIn('RUNNING', { extractionId: 'running' })];
    const counts = await restore(backup(...records), { ...deps, createMissing: twice });
    expect(counts).toMatchObject({ present: 2, unconfirmed: 0 });
    expect(forgotten).toEqual(['request-1']);
    await restore(backup(...records), deps);
    expect(forgotten).toEqual(['request-1', 'request-1']);
    expect(store.items.size).toBe(2);
  });

  test('copies every record of every page of every segment once', async () => {
    const { store, deps } = live();
    const recordsOf = (segment: number, page: number) =>
      Array.from({ length: 140 }, (_, index) =>
        closedExtraction({
          extractionId: `${segment}-${page}-${index}`,
          status: 'REJECTED',
          expiresAt: 1e11,
        }),
      );
    const segments = [0, 1, 2].map((segment) => pagesOf(recordsOf(segment, 0), [], recordsOf(segment, 1)));
    expect(await restore(segments, deps)).toMatchObject({ closed: 840, present: 0 });
    expect(store.items.size).toBe(840);
  });

  test('finds the live records of a dry run together', async () => {
    const { store, deps } = live({ dryRun: true });
    store.items.set('one', extractionIn('COMPLETED', { extractionId: 'one' }));
    const asked: (readonly string[])[] = [];
    const find: RestoreDeps['find'] = async (ids) => {
      asked.push(ids);
      return [...store.items.values()];
    };
    const records = ['one', 'two'].map((extractionId) => extractionIn('RUNNING', { extractionId }));
    expect(await restore(backup(...records), { ...deps, find })).toMatchObject({ present: 1, due: 1 });
    expect(asked).toEqual([['one', 'two']]);
  });
});
