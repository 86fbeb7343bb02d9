import { expect, test, vi } from 'vitest';
import { type EraseDeps, ErasureContended, eraseExtraction } from '#lib/extraction/erase/erase-extraction.ts';
import { eraseMessages } from '#lib/extraction/erase/erase-messages.ts';
import type { EraseMessage, Erasure, Tombstone } from '#lib/extraction/erase/erasure.ts';
import { maxErasureSeconds } from '#lib/extraction/erase/plan-erasure.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import type { StoredEntry } from '#lib/rate-limit/start-line.ts';
import {
  at,
  closedExtraction,
  extraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';
import { memoryErasureStore } from '../../../../support/stores/memory-erasure-store.ts';
import { memoryExtractionStore } from '../../../../support/stores/memory-extraction-store.ts';

const of = { erasureId: 'erasure-1', extractionId: id, requestId: 'request-1' };
const collected = closedExtraction({ status: 'COMPLETED', taskId: 'task-1', collectedAt: iso(40) });

/** One record, and what is done to it, in order. */
const place = (record: Extraction | undefined, over: Partial<EraseDeps> = {}) => {
  const extractions = memoryExtractionStore();
  if (record !== undefined) extractions.items.set(id, record);
  const erasures = memoryErasureStore();
  const erasure: Erasure = {
    erasureId: 'erasure-1',
    askedBy: 'caller',
    askedAt: iso(9_900),
    extractionId: id,
  };
  erasures.items.erasures.set('erasure-1', erasure);
  const done: string[] = [];
  let inLine: StoredEntry | undefined = {
    extractionId: id,
    requestId: 'request-1',
    attempt: 0,
    slot: 'slot',
    waitedMs: 0,
    expiresAt: 1e11,
    callbackToken: 'woken',
  };
  const sent: [EraseMessage, string, number | undefined][] = [];
  const note = (what: string) => async () => void done.push(what);
  const deps: EraseDeps = {
    extractions,
    erasures: {
      ...erasures,
      setRemoving: async (...args) => {
        done.push('tombstone');
        await erasures.setRemoving(...args);
      },
    },
    removals: {
      removeRecord: async () => {
        done.push('record');
        extractions.items.delete(id);
        return true;
      },
      getMac: async () => 'mac',
      removeMark: note('mark'),
      eraseTask: note('task'),
      removeResults: async () => done.push('results'),
      removeRepeats: note('repeats'),
    },
    requests: {
      remove: async (_requestId, which) => {
        // One that a late start has put back goes, too.
        expect(which).toBe('any task');
        done.push('request');
      },
    },
    startLine: {
      find: async () => inLine,
      withdraw: async () => {
        done.push('line');
        inLine = undefined;
        return true;
      },
    },
    wake: async (token) => {
      done.push(token);
      return 'woken';
    },
    send: async (...args) => void sent.push(args as (typeof sent)[number]),
    now: () => at(10_000),
    timings,
    telemetry: memoryTelemetry().telemetry,
    ...over,
  };
  const tombstone = (): Tombstone | undefined => [...erasures.items.tombstones.values()][0];
  return { deps, done, sent, tombstone, extractions };
};

test('the tombstone comes first and the record last, so that an interrupted erasure can be repeated', async () => {
  const { deps, done, sent, tombstone } = place(collected);
  expect(await eraseExtraction(of, deps)).toMatchObject({ kind: 'erased' });
  expect(done.slice(0, 9)).toEqual([
    'tombstone',
    'results',
    'mark',
    'task',
    // A delivery may have set it between the two.
    'mark',
    'request',
    'woken',
    'line',
    'record',
  ]);
  expect(tombstone()).toMatchObject({ ...of, removingAt: iso(10_000), erasedAt: iso(10_000) });
  expect(sent).toEqual([]);
});

test('what is not started is closed at once, loses its sealed data, and is erased once no process may write', async () => {
  const { deps, done, sent, extractions } = place(extraction());
  expect(await eraseExtraction(of, deps)).toEqual({ kind: 'waits' });
  expect(extractions.items.get(id)).toMatchObject({ status: 'NOT_STARTED', reason: 'erased' });
  expect(done).toEqual(['request', 'woken', 'line']);
  expect(sent).toEqual([[{ erase: of }, 'caller', 130]]);
});

test('an open extraction is left alone, and read again later', async () => {
  const { deps, done, sent } = place(extractionIn('RUNNING'));
  expect(await eraseExtraction(of, deps)).toEqual({ kind: 'waits' });
  expect([done, sent]).toEqual([[], [[{ erase: of }, 'caller', 100]]]);
});

test.each([
  [0, []],
  [1, ['ErasureOverdue']],
])('one that is open for %i s longer than any should be is counted as %j', async (seconds, expected) => {
  const { telemetry, counted } = memoryTelemetry();
  const now = () => at(9_900 + maxErasureSeconds(timings) + seconds);
  const { deps, sent } = place(extractionIn('RUNNING'), { now, telemetry });
  expect(await eraseExtraction(of, deps)).toEqual({ kind: 'waits' });
  expect(counted).toEqual(expected);
  expect(sent).toEqual([[{ erase: of }, 'caller', 900]]);
});

test('a later request under the same id keeps its record and its results', async () => {
  const { deps, done, tombstone, extractions } = place(extraction({ requestId: 'request-2' }));
  expect(await eraseExtraction(of, deps)).toEqual({ kind: 'erased', objects: 0 });
  expect(done).toEqual(['request', 'woken', 'line']);
  expect(extractions.items.size).toBe(1);
  expect(tombstone()).toMatchObject({ erasedAt: iso(10_000) });
});

test('a record that changes again and again leaves the message in the queue', async () => {
  const { deps } = place(collected);
  const removeRecord = vi.fn(async () => false);
  const stubborn = { ...deps, removals: { ...deps.removals, removeRecord } };
  await expect(eraseExtraction(of, stubborn)).rejects.toThrow(ErasureContended);
  expect(removeRecord).toHaveBeenCalledTimes(8);
  const messages = [
    { messageId: 'one', body: JSON.stringify({ erase: of }) },
    { messageId: 'two', body: '{"erase":{}}' },
    { messageId: 'three', body: JSON.stringify({ erase: { ...of, requestId: 'x'.repeat(65) } }) },
  ];
  const searching = {
    ...stubborn,
    erasures: memoryErasureStore(),
    index: { find: async () => ({ entries: [] }) },
  };
  expect(await eraseMessages(messages, searching)).toEqual({
    batchItemFailures: ['one', 'two', 'three'].map((itemIdentifier) => ({ itemIdentifier })),
  });
});
