import { describe, expect, test } from 'vitest';
import { settleDelivered } from '../../../../lib/extraction/decide.ts';
import type { Extraction, TerminalStatus } from '../../../../lib/extraction/record.ts';
import { cannotLearn, run } from '../../../../lib/extraction/run.ts';
import type { ExtractionStore } from '../../../../lib/extraction/store.ts';
import { at, extractionIn, id, iso, timings } from '../../../support/data/extraction-fixtures.ts';
import { memoryTelemetry } from '../../../support/data/memory-telemetry.ts';
import { memoryExtractionStore } from '../../../support/stores/memory-extraction-store.ts';
import { withLostAnswers } from '../../../support/stores/with-lost-answers.ts';

/** Settles as a delivery does, and collects nothing. */
const settleOn = async (
  before: Extraction | undefined,
  taskStatus: TerminalStatus,
  through: (store: ExtractionStore) => ExtractionStore = (store) => store,
) => {
  const store = memoryExtractionStore();
  if (before !== undefined) store.items.set(id, before);
  const { counted, measured, progress, telemetry } = memoryTelemetry();
  const settled = settleDelivered({ extractionId: id, taskId: 'task-1', taskStatus }, at(100), timings);
  const { record } = await run(
    settled,
    undefined,
    { kind: 'webhook' },
    {
      extractions: through(store),
      send: async () => undefined,
      learn: cannotLearn,
      now: () => at(100),
      timings,
      telemetry,
    },
  );
  expect(record).toEqual(store.items.get(id));
  return { record, counted, measured, progress };
};

test('an outcome is recorded with settledBy and counted', async () => {
  const { record, counted } = await settleOn(extractionIn('RUNNING'), 'COMPLETED');
  expect(record).toMatchObject({ status: 'COMPLETED', settledBy: 'webhook', settledAt: iso(100) });
  expect(counted).toEqual(['SettledByWebhook']);
});

test('a settlement whose answer was lost is counted once', async () => {
  const { record, counted } = await settleOn(extractionIn('RUNNING'), 'FAILED', withLostAnswers);
  expect(record).toMatchObject({ status: 'FAILED', settledBy: 'webhook' });
  expect(counted).toEqual(['SettledByWebhook']);
});

test('the same outcome again changes and counts nothing', async () => {
  const before = extractionIn('COMPLETED');
  const { record, counted } = await settleOn(before, 'COMPLETED');
  expect(record).toEqual(before);
  expect(counted).toEqual([]);
});

test('a different outcome changes nothing, and the disagreement is counted', async () => {
  const before = extractionIn('COMPLETED');
  const { record, counted } = await settleOn(before, 'FAILED');
  expect(record).toEqual(before);
  expect(counted).toEqual(['StatusDisagreement']);
});

describe('after TIMED_OUT', () => {
  test('it is a correction, and replaces the outcome', async () => {
    const { record, counted } = await settleOn(extractionIn('TIMED_OUT'), 'PARTIAL');
    expect(record).toMatchObject({ status: 'PARTIAL', settledBy: 'webhook', settledAt: iso(100) });
    expect(record).not.toHaveProperty('reason');
    expect(counted).toEqual(['SettledByWebhook', 'Corrected']);
  });

  test('it is counted once, even if its answer was lost', async () => {
    const { counted } = await settleOn(extractionIn('TIMED_OUT'), 'PARTIAL', withLostAnswers);
    expect(counted).toEqual(['SettledByWebhook', 'Corrected']);
  });

  test('the status of another task changes nothing', async () => {
    const before = extractionIn('TIMED_OUT', { taskId: 'task-2' });
    const { record, counted } = await settleOn(before, 'PARTIAL');
    expect(record).toEqual(before);
    expect(counted).toEqual([]);
  });
});

test.each(['REQUESTED', 'STARTING', 'REJECTED', 'UNCONFIRMED', 'NOT_STARTED'] as const)(
  'nothing is settled on %s: no task is known to it',
  async (status) => {
    const record = extractionIn(status);
    expect((await settleOn(record, 'COMPLETED')).record).toEqual(record);
  },
);

test('without a record nothing is written', async () => {
  expect((await settleOn(undefined, 'COMPLETED')).record).toBeUndefined();
});

describe('an outcome is reported once, with the entity, the seconds since the request and its trace', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

  test.each([
    ['settled', extractionIn('RUNNING', { traceparent }), undefined],
    ['settled by a write whose answer was lost', extractionIn('RUNNING', { traceparent }), withLostAnswers],
  ])('%s', async (_, record, through) => {
    const { progress, measured } = await settleOn(record, 'CREDENTIALS_WRONG', through);
    expect(progress).toMatchObject([
      [
        'Extraction ended.',
        { extractionId: id, entity: 'bank', status: 'CREDENTIALS_WRONG', seconds: 100, traceparent },
      ],
    ]);
    expect(measured).toEqual([['SecondsToOutcome', 100]]);
  });

  test('a correction takes the report of TIMED_OUT back', async () => {
    const { progress } = await settleOn(extractionIn('TIMED_OUT'), 'COMPLETED');
    expect(progress).toMatchObject([
      [
        'Outcome corrected.',
        { status: 'TIMED_OUT', reason: 'deadline-passed', settledMs: at(7_200).getTime() },
      ],
      ['Extraction ended.', { status: 'COMPLETED', settledMs: at(100).getTime() }],
    ]);
  });

  test('and logged again without a figure by a repeated delivery, as the writer may have ended before its line', async () => {
    const { progress, measured } = await settleOn(extractionIn('COMPLETED'), 'COMPLETED');
    expect(progress).toMatchObject([
      ['Extraction ended.', { extractionId: id, status: 'COMPLETED', again: true }],
    ]);
    expect(measured).toEqual([]);
  });

  test('without a figure where the record has no valid time, as the write is done', async () => {
    const record = extractionIn('RUNNING', { requestedAt: 'damaged' });
    const { progress, measured } = await settleOn(record, 'FAILED');
    expect([progress.length, measured]).toEqual([1, [['OutcomeFailed', 1]]]);
  });
});
