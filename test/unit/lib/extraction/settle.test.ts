import { describe, expect, test } from 'vitest';
import type { Extraction, SettledBy, TerminalStatus } from '../../../../lib/extraction/record.ts';
import { settle } from '../../../../lib/extraction/settle.ts';
import type { ExtractionStore } from '../../../../lib/extraction/store.ts';
import { at, extractionIn, id, iso, observations, timings } from '../../../support/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/memory-extraction-store.ts';
import { withLostAnswers } from '../../../support/with-lost-answers.ts';

const settleOn = async (
  row: Extraction | undefined,
  by: SettledBy,
  taskStatus: TerminalStatus,
  through: (store: ExtractionStore) => ExtractionStore = (store) => store,
) => {
  const store = memoryExtractionStore();
  if (row !== undefined) store.rows.set(id, row);
  const { seen, count } = observations();
  const fact = { extractionId: id, taskId: 'task-1', taskStatus };
  const record = await settle(by, fact, {
    extractions: through(store),
    now: () => at(100),
    timings,
    count,
  });
  expect(record).toEqual(store.rows.get(id));
  return { record, seen };
};

test.each([
  ['webhook', 'SettledByWebhook'],
  ['start', 'SettledByStart'],
  ['reconcile', 'SettledByReconcile'],
] as const)('what the %s learned is recorded under its name and counted', async (by, metric) => {
  const { record, seen } = await settleOn(extractionIn('RUNNING'), by, 'COMPLETED');
  expect(record).toMatchObject({ status: 'COMPLETED', settledBy: by, settledAt: iso(100) });
  expect(seen).toEqual([metric]);
});

test('a settling whose answer was lost is counted once', async () => {
  const { record, seen } = await settleOn(extractionIn('RUNNING'), 'webhook', 'FAILED', withLostAnswers);
  expect(record).toMatchObject({ status: 'FAILED', settledBy: 'webhook' });
  expect(seen).toEqual(['SettledByWebhook']);
});

test('the same outcome told again changes nothing and counts nothing', async () => {
  const row = extractionIn('COMPLETED');
  const { record, seen } = await settleOn(row, 'reconcile', 'COMPLETED');
  expect(record).toEqual(row);
  expect(seen).toEqual([]);
});

test('what a settling means besides is counted by the one that settled, and by no other', async () => {
  const store = memoryExtractionStore();
  store.rows.set(id, extractionIn('RUNNING'));
  const { seen, count } = observations();
  const fact = { extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' } as const;
  for (const second of [100, 101]) {
    const deps = { extractions: store, now: () => at(second), timings, count };
    await settle('reconcile', fact, deps, 'WebhookMissed');
  }
  expect(seen).toEqual(['SettledByReconcile', 'WebhookMissed']);
});

test('another outcome changes nothing: the first stays, and the disagreement is counted', async () => {
  const row = extractionIn('COMPLETED');
  const { record, seen } = await settleOn(row, 'reconcile', 'FAILED');
  expect(record).toEqual(row);
  expect(seen).toEqual(['StatusDisagreement']);
});

describe('after TIMED_OUT', () => {
  test('it is a correction, and replaces our outcome', async () => {
    const { record, seen } = await settleOn(extractionIn('TIMED_OUT'), 'webhook', 'PARTIAL');
    expect(record).toMatchObject({ status: 'PARTIAL', settledBy: 'webhook', settledAt: iso(100) });
    expect(record).not.toHaveProperty('reason');
    expect(seen).toEqual(['SettledByWebhook', 'Corrected']);
  });

  test('it is counted once, even if its answer was lost', async () => {
    const { seen } = await settleOn(extractionIn('TIMED_OUT'), 'webhook', 'PARTIAL', withLostAnswers);
    expect(seen).toEqual(['SettledByWebhook', 'Corrected']);
  });

  test('of another task it is none', async () => {
    const row = extractionIn('TIMED_OUT', { taskId: 'task-2' });
    const { record, seen } = await settleOn(row, 'webhook', 'PARTIAL');
    expect(record).toEqual(row);
    expect(seen).toEqual([]);
  });
});

test.each(['REQUESTED', 'STARTING', 'REJECTED', 'UNCONFIRMED', 'NOT_STARTED'] as const)(
  'nothing is settled on %s: no task is known to it',
  async (status) => {
    const row = extractionIn(status);
    expect((await settleOn(row, 'webhook', 'COMPLETED')).record).toEqual(row);
  },
);

test('a row that is gone stays gone', async () => {
  expect((await settleOn(undefined, 'webhook', 'COMPLETED')).record).toBeUndefined();
});
