import { describe, expect, test } from 'vitest';
import { settle } from '../../../../lib/extraction/progress.ts';
import type { Extraction, SettledBy, TerminalStatus } from '../../../../lib/extraction/record.ts';
import type { ExtractionStore } from '../../../../lib/extraction/store.ts';
import { at, extractionIn, id, iso, timings } from '../../../support/extraction-fixtures.ts';
import { memoryExtractionStore } from '../../../support/memory-extraction-store.ts';
import { memoryTelemetry } from '../../../support/memory-telemetry.ts';
import { withLostAnswers } from '../../../support/with-lost-answers.ts';

const settleOn = async (
  before: Extraction | undefined,
  by: SettledBy,
  taskStatus: TerminalStatus,
  through: (store: ExtractionStore) => ExtractionStore = (store) => store,
) => {
  const store = memoryExtractionStore();
  if (before !== undefined) store.items.set(id, before);
  const { counted, measured, progress, telemetry } = memoryTelemetry();
  const fact = { extractionId: id, taskId: 'task-1', taskStatus };
  const record = await settle(by, fact, {
    extractions: through(store),
    now: () => at(100),
    timings,
    telemetry,
  });
  expect(record).toEqual(store.items.get(id));
  return { record, counted, measured, progress };
};

test.each([
  ['webhook', 'SettledByWebhook'],
  ['start', 'SettledByStart'],
  ['reconcile', 'SettledByReconcile'],
] as const)('an outcome from %s is recorded with settledBy and counted', async (by, metric) => {
  const { record, counted } = await settleOn(extractionIn('RUNNING'), by, 'COMPLETED');
  expect(record).toMatchObject({ status: 'COMPLETED', settledBy: by, settledAt: iso(100) });
  expect(counted).toEqual([metric]);
});

test('a settlement whose answer was lost is counted once', async () => {
  const { record, counted } = await settleOn(extractionIn('RUNNING'), 'webhook', 'FAILED', withLostAnswers);
  expect(record).toMatchObject({ status: 'FAILED', settledBy: 'webhook' });
  expect(counted).toEqual(['SettledByWebhook']);
});

test('the same outcome again changes and counts nothing', async () => {
  const before = extractionIn('COMPLETED');
  const { record, counted } = await settleOn(before, 'reconcile', 'COMPLETED');
  expect(record).toEqual(before);
  expect(counted).toEqual([]);
});

test('additional metrics are counted only by the call that settled', async () => {
  const store = memoryExtractionStore();
  store.items.set(id, extractionIn('RUNNING'));
  const { counted, telemetry } = memoryTelemetry();
  const fact = { extractionId: id, taskId: 'task-1', taskStatus: 'COMPLETED' } as const;
  for (const second of [100, 101]) {
    const deps = { extractions: store, now: () => at(second), timings, telemetry };
    await settle('reconcile', fact, deps, 'WebhookMissed');
  }
  expect(counted).toEqual(['SettledByReconcile', 'WebhookMissed']);
});

test('a different outcome changes nothing, and the disagreement is counted', async () => {
  const before = extractionIn('COMPLETED');
  const { record, counted } = await settleOn(before, 'reconcile', 'FAILED');
  expect(record).toEqual(before);
  expect(counted).toEqual(['StatusDisagreement']);
});

describe('after TIMED_OUT', () => {
  test('it is a correction, and replaces the outcome', async () => {
    const { record, counted } = await settleOn(extractionIn('TIMED_OUT'), 'webhook', 'PARTIAL');
    expect(record).toMatchObject({ status: 'PARTIAL', settledBy: 'webhook', settledAt: iso(100) });
    expect(record).not.toHaveProperty('reason');
    expect(counted).toEqual(['SettledByWebhook', 'Corrected']);
  });

  test('it is counted once, even if its answer was lost', async () => {
    const { counted } = await settleOn(extractionIn('TIMED_OUT'), 'webhook', 'PARTIAL', withLostAnswers);
    expect(counted).toEqual(['SettledByWebhook', 'Corrected']);
  });

  test('the status of another task changes nothing', async () => {
    const before = extractionIn('TIMED_OUT', { taskId: 'task-2' });
    const { record, counted } = await settleOn(before, 'webhook', 'PARTIAL');
    expect(record).toEqual(before);
    expect(counted).toEqual([]);
  });
});

test.each(['REQUESTED', 'STARTING', 'REJECTED', 'UNCONFIRMED', 'NOT_STARTED'] as const)(
  'nothing is settled on %s: no task is known to it',
  async (status) => {
    const record = extractionIn(status);
    expect((await settleOn(record, 'webhook', 'COMPLETED')).record).toEqual(record);
  },
);

test('without a record nothing is written', async () => {
  expect((await settleOn(undefined, 'webhook', 'COMPLETED')).record).toBeUndefined();
});

describe('an outcome is reported once, with the entity, the seconds since the request and its trace', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  test.each([
    ['settled', extractionIn('RUNNING', { traceparent }), undefined],
    ['settled by a write whose answer was lost', extractionIn('RUNNING', { traceparent }), withLostAnswers],
  ])('%s', async (_, record, through) => {
    const { progress, measured } = await settleOn(record, 'webhook', 'CREDENTIALS_WRONG', through);
    expect(progress).toMatchObject([
      [
        'Extraction ended.',
        { extractionId: id, entity: 'bank', status: 'CREDENTIALS_WRONG', seconds: 100, traceparent },
      ],
    ]);
    expect(measured).toEqual([['SecondsToOutcome', 100]]);
  });

  test('a correction takes the report of TIMED_OUT back', async () => {
    const { progress } = await settleOn(extractionIn('TIMED_OUT'), 'webhook', 'COMPLETED');
    const settledAt = iso(7_200);
    expect(progress).toMatchObject([
      ['Extraction ended.', { status: 'COMPLETED', settledAt: iso(100), settledMs: at(100).getTime() }],
      ['Outcome corrected.', { status: 'TIMED_OUT', reason: 'deadline-passed', settledAt }],
    ]);
  });

  test('not if it was recorded before', async () => {
    const { progress, measured } = await settleOn(extractionIn('COMPLETED'), 'webhook', 'COMPLETED');
    expect([progress, measured]).toEqual([[], []]);
  });

  test('without a figure where the record has no valid time, as the write is done', async () => {
    const record = extractionIn('RUNNING', { requestedAt: 'damaged' });
    const { progress, measured } = await settleOn(record, 'webhook', 'FAILED');
    expect([progress.length, measured]).toEqual([1, [['OutcomeFailed', 1]]]);
  });
});
