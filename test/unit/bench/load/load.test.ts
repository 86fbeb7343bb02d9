import { describe, expect, test } from 'vitest';
import { dueShardCount, dueShardOf } from '../../../../lib/extraction/deadlines.ts';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import { settledExtraction } from '../../../bench/cold/delivery-fixture.ts';
import type { Call, Entry } from '../../../bench/ledger/entry.ts';
import { openItems } from '../../../bench/load/open-items.ts';
import { cpuMsOf, usageOf, usagePerDue } from '../../../bench/load/usage-per-extraction.ts';
import type { Units } from '../../../bench/units/dynamo-units.ts';

const extraction: Extraction = { ...settledExtraction, status: 'RUNNING' };
const { extractionId, taskId = '' } = extraction;
const task = { taskId, extractionId, callbackToken: 'token', callbackAttempt: 0 };
const tables = { extractions: 'Extractions', tasks: 'Tasks' };

test('makes a record and a linked task for each, under new ids, in the shard of its id', () => {
  const taskIds = Array.from({ length: 400 }, (_, index) => `task-${index}`);
  const items = openItems({ extraction, task, tables }, taskIds);
  const records = items.filter(({ table }) => table === 'Extractions').map(({ item }) => item as Extraction);
  const tasks = items.filter(({ table }) => table === 'Tasks').map(({ item }) => item);
  expect(new Set([extractionId, ...records.map((record) => record.extractionId)]).size).toBe(401);
  expect(records.every((record) => record.dueShard === dueShardOf(record.extractionId))).toBe(true);
  expect(records.every((record) => record.dueAt === extraction.dueAt)).toBe(true);
  expect(new Set(records.map(({ dueShard }) => dueShard)).size).toBe(dueShardCount);
  expect(tasks).toEqual(
    records.map((record) => ({ ...task, taskId: record.taskId, extractionId: record.extractionId })),
  );
});

describe('usage', () => {
  const call = (service: string, operation: string): Call => ({
    service,
    operation,
    startedAt: 0,
    endedAt: 1,
    statusCode: 200,
    answerBytes: 10,
  });

  const entry = (more: Partial<Entry> = {}): Entry => ({
    function: 'one',
    requestId: 'r',
    ordinal: 2,
    cpuMs: 10,
    startedAt: 0,
    endedAt: 20,
    failed: false,
    bodyBytes: 0,
    calls: [],
    ...more,
  });

  const units = (more: Partial<Units>): Units => ({
    table: 'Extractions',
    write: 0,
    index: 0,
    read: 0,
    bytes: 0,
    ...more,
  });

  describe('the usage of a number of extractions', () => {
    test('counts calls, units and bytes per extraction', () => {
      const [update, read] = [call('dynamodb', 'UpdateItem'), call('dynamodb', 'GetItem')];
      const counted = new Map([
        [update, units({ write: 1, index: 2 })],
        [read, units({ read: 1 })],
      ]);
      const calls = [update, read, call('kms', 'Decrypt')];
      const usage = usageOf([entry({ calls }), entry({ calls })], 2, counted);
      expect([...usage.calls]).toEqual([
        ['Extractions GetItem', 1],
        ['Extractions UpdateItem', 1],
        ['KMS Decrypt', 1],
      ]);
      expect(usage).toMatchObject({ writeUnits: 3, indexUnits: 2, readUnits: 1, answerBytes: 30 });
    });

    test('leaves out the provider and the reads of secrets', () => {
      const calls = [call('secretsmanager', 'GetSecretValue'), call('provider', 'POST')];
      const usage = usageOf([entry({ calls })], 1, new Map());
      expect([...usage.calls]).toEqual([]);
      expect(usage.answerBytes).toBe(0);
    });

    test('adds up the medians of the functions without the first invocation of a process', () => {
      const entries = [
        ...[5, 7, 9].map((cpuMs) => entry({ cpuMs })),
        entry({ cpuMs: 500, ordinal: 1 }),
        entry({ function: 'other', cpuMs: 3 }),
      ];
      expect(cpuMsOf(entries)).toBe(7 + 3);
    });
  });

  test('the usage of a due record is that of its sweep, less an empty one, divided by the due records', () => {
    const queries = Array.from({ length: 16 }, () => call('dynamodb', 'Query'));
    const leases = Array.from({ length: 8 }, () => call('dynamodb', 'UpdateItem'));
    const counted = new Map([
      ...queries.map((query) => [query, units({ table: 'due', read: 0.5 })] as const),
      ...leases.map((lease) => [lease, units({ write: 1, index: 2 })] as const),
    ]);
    const idle = usageOf([entry({ calls: queries, cpuMs: 10 })], 1, counted);
    const sweep = usageOf([entry({ calls: [...queries, ...leases], cpuMs: 26 })], 1, counted);
    expect(idle.readUnits).toBe(8);
    const due = usagePerDue(sweep, idle, 8);
    expect([...due.calls]).toEqual([
      ['Extractions UpdateItem', 1],
      ['due Query', 0],
    ]);
    expect(due).toMatchObject({ writeUnits: 3, indexUnits: 2, readUnits: 0, answerBytes: 10, cpuMs: 2 });
  });
});
