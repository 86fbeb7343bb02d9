import { reconcile } from '../../lib/extraction/reconcile.ts';
import type { Extraction } from '../../lib/extraction/record.ts';
import { recordDelivery } from '../../lib/extraction/record-delivery.ts';
import { request } from '../../lib/extraction/request.ts';
import { start } from '../../lib/extraction/start.ts';
import type { Task } from '../../lib/extraction/store.ts';
import { memoryExtractionStore } from '../simulation/memory/memory-extraction-store.ts';
import { memoryTaskStore } from '../simulation/memory/memory-task-store.ts';
import { timings } from '../unit/lib/extraction/fixtures.ts';
import { itemBytes } from './item-bytes.ts';

/** What one extraction asks of AWS on its way, counted where our code asks. */
export type Usage = {
  writeUnits: number;
  readUnits: number;
  kmsRequests: number;
  putRequests: number;
  transitions: number;
  invocations: number;
};

const extractionId = '01a1fe07-9745-75b1-b891-0d0d5703db17';
const taskId = 'ef44eb6e-cd7b-4d42-8792-b25dfc1495c6';

const writeUnitsOf = (before: object | undefined, after: object | undefined): number =>
  Math.ceil(Math.max(itemBytes(before ?? {}), itemBytes(after ?? {})) / 1_024);

/** The index `open`: one write to enter or leave it, two for a changed key (DynamoDB guide, "Using GSIs"). */
const indexWrites = (before: Extraction | undefined, after: Extraction | undefined): number => {
  const changed = before?.openUntil !== after?.openUntil;
  return changed ? [before, after].filter((record) => record?.openUntil !== undefined).length : 0;
};

/** Runs the real code through the happy path of a 60-second extraction by credentials, and counts. */
export const happyPath = async (): Promise<Usage> => {
  const usage: Usage = {
    writeUnits: 0,
    readUnits: 0,
    kmsRequests: 0,
    putRequests: 0,
    transitions: 2,
    // One each of request-extraction, start-task, receive-webhook, reconcile-extraction and get-extraction.
    invocations: 5,
  };
  let seconds = 0;
  const now = () => new Date(Date.UTC(2026, 0, 1, 12) + seconds * 1_000);
  const extractions = memoryExtractionStore({
    before: ({ method, key }) => {
      before = extractions.rows.get(key);
      if (method === 'get') usage.readUnits += 1;
    },
    after: ({ method, key }) => {
      if (method === 'get') return;
      const after = extractions.rows.get(key);
      usage.writeUnits += writeUnitsOf(before, after) + indexWrites(before, after);
    },
  });
  let before: Extraction | undefined;
  let taskBefore: Task | undefined;
  const tasks = memoryTaskStore({
    before: ({ method, key }) => {
      taskBefore = tasks.rows.get(key);
      if (method === 'get') usage.readUnits += 1;
    },
    after: ({ method, key }) => {
      if (method !== 'get') usage.writeUnits += writeUnitsOf(taskBefore, tasks.rows.get(key));
    },
  });
  const shared = { extractions, tasks, now, timings, observe: () => undefined, onFailure: () => undefined };

  await request(
    {
      extractionId,
      requestedBy: 'arn:aws:iam::123456789012:role/a-service-of-ours',
      requestId: 'JKJaXmPLvHcESHA=',
      fingerprint: 'f'.repeat(64),
      request: {
        method: 'credentials',
        entity: 'sandbox-bank',
        credentials: { mode: 'raw', value: { username: 'user', password: 'password' } },
        actions: [
          { id: 'product-balance' },
          { id: 'movement', params: { dateRange: { startDate: '2026-01-01', endDate: '2026-01-31' } } },
        ],
      },
    },
    {
      ...shared,
      seal: async () => {
        usage.kmsRequests += 1;
        return 'sealed';
      },
      startExecution: async () => undefined,
    },
  );

  // As long as those that Step Functions hands out, which are of some 700 characters.
  const callbackToken = 't'.repeat(700);
  seconds = 1;
  await start(
    { extractionId, callbackToken, callbackAttempt: 0 },
    {
      ...shared,
      newAttemptId: () => '0190a0b0-0000-4000-8000-000000000001',
      onTaken: () => undefined,
      callFor: async () => {
        usage.kmsRequests += 1;
        return {
          renewable: true,
          tokens: { current: async () => 'token', drop: () => undefined },
          post: async () => taskId,
        };
      },
    },
  );

  seconds = 60;
  await recordDelivery({ taskId, taskStatus: 'COMPLETED' }, { ...shared, wake: async () => 'woken' });

  const results = Buffer.from('{}');
  const reconciled = await reconcile(
    extractionId,
    { caller: 'machine', startGaveUp: false },
    {
      ...shared,
      read: async () => ({ kind: 'ended', taskStatus: 'COMPLETED', results, expected: true }),
      storeResults: async () => {
        usage.putRequests += 1;
        return {
          bucket: 'a-bucket-of-ours',
          key: `${extractionId}/${'0'.repeat(64)}.json`,
          bytes: 2,
          sha256: '0'.repeat(64),
        };
      },
    },
  );
  if (reconciled.kind !== 'closed') throw new Error(`The happy path ended ${reconciled.kind}.`);
  return usage;
};
