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

const closeSeconds = 40;
const collected = closedExtraction({
  status: 'COMPLETED',
  taskId: 'task-1',
  collectedAt: iso(closeSeconds),
  expiresAt: Math.floor(at(closeSeconds).getTime() / 1000) + timings.recordRetention,
});

/** A place with one record, its task and two objects, that keeps in which order things went. */
const place = (record: Extraction | undefined, over: Partial<EraseDeps> = {}, now = 10_000) => {
  const input: string[] = [];
  let kept = record;
  let objects = 2;
  const tasks = new Set(['task-1']);
  const requests = new Set(['request-1']);
  const marks = new Set(['mac']);
  const deps: EraseDeps = {
    getRecord: async () => ({ record: kept, at: at(now) }),
    removeRecord: async () => {
      input.push('record');
      kept = undefined;
      return true;
    },
    getMac: async (taskId) => (tasks.has(taskId) ? 'mac' : undefined),
    hasMark: async (mac) => marks.has(mac),
    removeMark: async (mac) => {
      input.push('mark');
      marks.delete(mac);
    },
    hasTask: async (taskId) => tasks.has(taskId),
    removeTask: async (taskId) => {
      input.push('task');
      tasks.delete(taskId);
    },
    hasRequest: async (requestId) => requests.has(requestId),
    removeRequest: async (requestId) => {
      input.push('request');
      requests.delete(requestId);
    },
    removeResults: async () => {
      input.push('results');
      const were = objects;
      objects = 0;
      return were;
    },
    countResults: async () => objects,
    reconcileTimeout: 120,
    recordRetention: timings.recordRetention,
    ...over,
  };
  return { deps, order: input };
};

test('results are erased first and the record last, so that an interrupted erasure can be repeated', async () => {
  const { deps, order: input } = place(collected);
  expect(await erase(id, deps)).toEqual({ kind: 'erased', objects: 2, taskId: 'task-1' });
  expect(input).toEqual(['results', 'mark', 'task', 'request', 'record']);
});

test('an open extraction is left alone', async () => {
  for (const status of ['REQUESTED', 'STARTING', 'RUNNING', 'COMPLETED', 'TIMED_OUT'] as const) {
    const { deps, order: input } = place(extractionIn(status));
    expect(await erase(id, deps)).toMatchObject({ kind: 'open', record: { status } });
    expect(input).toEqual([]);
  }
});

test('nothing is erased while a running function may still store results', async () => {
  const { deps, order: input } = place(collected, {}, closeSeconds + 119);
  expect(await erase(id, deps)).toEqual({ kind: 'too-fresh', until: iso(closeSeconds + 120) });
  expect(input).toEqual([]);
});

test('a close that shows only in expiresAt counts', async () => {
  const closedAt = 9_950;
  const gaveUp = closedExtraction({
    status: 'COMPLETED',
    taskId: 'task-1',
    collectionError: 'no-results',
    expiresAt: Math.floor(at(closedAt).getTime() / 1000) + timings.recordRetention,
  });
  expect(await erase(id, place(gaveUp).deps)).toEqual({ kind: 'too-fresh', until: iso(closedAt + 120) });
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
