import { expect, test } from 'vitest';
import { type EraseDeps, erase } from '../../../../../lib/extraction/operate/erase.ts';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import {
  at,
  closedExtraction,
  extractionIn,
  id,
  iso,
  timings,
} from '../../../../support/data/extraction-fixtures.ts';

/** A record that was closed at this time. */
const closedAt = (seconds: number, fields: Parameters<typeof closedExtraction>[0]): Extraction =>
  closedExtraction({
    status: 'COMPLETED',
    taskId: 'task-1',
    expiresAt: Math.floor(at(seconds).getTime() / 1000) + timings.recordRetention,
    ...fields,
  });
const collected = closedAt(40, { collectedAt: iso(40) });

/** A place with one record, its mark, task, request and two objects. `order` has what was erased, in this order. */
const place = (record: Extraction | undefined, over: Partial<EraseDeps> = {}, now = 10_000) => {
  const left = new Set(['mac', 'task-1', 'request-1', 'results', 'record']);
  const order: string[] = [];
  const has = async (what: string) => left.has(what);
  const remove = async (what: string) => {
    order.push(what);
    left.delete(what);
  };
  const deps: EraseDeps = {
    getRecord: async () => ({ record: left.has('record') ? record : undefined, at: at(now) }),
    removeRecord: async () => {
      await remove('record');
      return true;
    },
    getMac: async (taskId) => (left.has(taskId) ? 'mac' : undefined),
    hasMark: has,
    removeMark: remove,
    hasTask: has,
    removeTask: remove,
    requests: {
      get: async (requestId) =>
        left.has(requestId) ? { requestId, extractionId: id, sealed: '', expiresAt: 0 } : undefined,
      remove: async (requestId, of) => {
        // One that a late start has put back goes, too.
        expect(of).toBe('any task');
        await remove(requestId);
      },
    },
    removeResults: async () => {
      await remove('results');
      return 2;
    },
    countResults: async () => (left.has('results') ? 2 : 0),
    reconcileTimeout: 120,
    recordRetention: timings.recordRetention,
    ...over,
  };
  return { deps, order };
};

test('results are erased first and the record last, so that an interrupted erasure can be repeated', async () => {
  const { deps, order } = place(collected);
  expect(await erase(id, deps)).toEqual({ kind: 'erased', objects: 2, taskId: 'task-1' });
  expect(order).toEqual(['results', 'mac', 'task-1', 'request-1', 'record']);
});

test('an open extraction is left alone', async () => {
  for (const status of ['REQUESTED', 'STARTING', 'RUNNING', 'COMPLETED', 'TIMED_OUT'] as const) {
    const { deps, order } = place(extractionIn(status));
    expect(await erase(id, deps)).toMatchObject({ kind: 'open', record: { status } });
    expect(order).toEqual([]);
  }
});

test('nothing is erased while a running function may still store results', async () => {
  const { deps, order } = place(collected, {}, 40 + 119);
  expect(await erase(id, deps)).toEqual({ kind: 'too-fresh', until: iso(40 + 120) });
  expect(order).toEqual([]);
});

test('a close that shows only in expiresAt counts', async () => {
  const gaveUp = closedAt(9_950, { collectionError: 'no-results' });
  expect(await erase(id, place(gaveUp).deps)).toEqual({ kind: 'too-fresh', until: iso(9_950 + 120) });
});

test('a retention that was shortened since does not delay it', async () => {
  const { deps } = place(collected, { recordRetention: 60 });
  expect(await erase(id, deps)).toMatchObject({ kind: 'erased' });
});

test('a record that a correction reopened meanwhile stays and is reported', async () => {
  const { deps } = place(collected, { removeRecord: async () => false });
  expect(await erase(id, deps)).toEqual({ kind: 'reopened' });
});

test('what the check finds after the erasure is reported', async () => {
  const { deps } = place(collected, { hasTask: async () => true, countResults: async () => 1 });
  expect(await erase(id, deps)).toEqual({ kind: 'remains', what: ['task', 'results'] });
});

test('objects that an interrupted erasure left are erased without a record', async () => {
  expect(await erase(id, place(undefined).deps)).toEqual({ kind: 'no-record', objects: 2 });
});
