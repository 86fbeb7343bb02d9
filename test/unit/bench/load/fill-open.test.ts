import { expect, test } from 'vitest';
import { dueShardCount, dueShardOf } from '../../../../lib/extraction/due-shard.ts';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import { openRows } from '../../../bench/load/fill-open.ts';
import { measuredExtraction } from '../../../bench/load/measured-webhook.ts';

const extraction: Extraction = { ...measuredExtraction, status: 'RUNNING' };
const { extractionId, taskId = '' } = extraction;
const task = { taskId, extractionId, callbackToken: 'token', callbackAttempt: 0 };
const tables = { extractions: 'Extractions', tasks: 'Tasks' };

test('makes a record and a linked task for each, under new ids, in the shard of its id', () => {
  const taskIds = Array.from({ length: 400 }, (_, index) => `task-${index}`);
  const rows = openRows({ extraction, task, tables }, taskIds);
  const records = rows.filter(({ table }) => table === 'Extractions').map(({ item }) => item as Extraction);
  const tasks = rows.filter(({ table }) => table === 'Tasks').map(({ item }) => item);
  expect(new Set([extractionId, ...records.map((record) => record.extractionId)]).size).toBe(401);
  expect(records.every((record) => record.dueShard === dueShardOf(record.extractionId))).toBe(true);
  expect(records.every((record) => record.dueAt === extraction.dueAt)).toBe(true);
  expect(new Set(records.map(({ dueShard }) => dueShard)).size).toBe(dueShardCount);
  expect(tasks).toEqual(
    records.map((record) => ({ ...task, taskId: record.taskId, extractionId: record.extractionId })),
  );
});
