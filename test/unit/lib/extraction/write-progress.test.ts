import { expect, test } from 'vitest';
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
  before: Extraction,
  taskStatus: TerminalStatus,
  through: (store: ExtractionStore) => ExtractionStore = (store) => store,
) => {
  const store = memoryExtractionStore();
  store.items.set(id, before);
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

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test.each([
  ['', undefined],
  [' by a write whose answer was lost', withLostAnswers],
])('an outcome that is settled%s is counted and reported once, with its trace', async (_, through) => {
  const before = extractionIn('RUNNING', { traceparent });
  const { record, counted, measured, progress } = await settleOn(before, 'CREDENTIALS_WRONG', through);
  const settled = { status: 'CREDENTIALS_WRONG', settledBy: 'webhook', settledAt: iso(100) };
  expect(record).toMatchObject(settled);
  expect([counted, measured]).toEqual([['SettledByWebhook'], [['SecondsToOutcome', 100]]]);
  const facts = { extractionId: id, entity: 'bank', status: 'CREDENTIALS_WRONG', seconds: 100, traceparent };
  expect(progress).toMatchObject([['Extraction ended.', facts]]);
});

test('a correction replaces TIMED_OUT and takes its report back, once, even if its answer was lost', async () => {
  const { record, counted, progress } = await settleOn(extractionIn('TIMED_OUT'), 'PARTIAL', withLostAnswers);
  expect(record).toMatchObject({ status: 'PARTIAL', settledBy: 'webhook', settledAt: iso(100) });
  expect(record).not.toHaveProperty('reason');
  expect(counted).toEqual(['SettledByWebhook', 'Corrected']);
  const timedOut = { status: 'TIMED_OUT', reason: 'deadline-passed', settledMs: at(7_200).getTime() };
  expect(progress).toMatchObject([
    ['Outcome corrected.', timedOut],
    ['Extraction ended.', { status: 'PARTIAL', settledMs: at(100).getTime() }],
  ]);
});

test('a different outcome changes nothing, and the disagreement is counted', async () => {
  const before = extractionIn('COMPLETED');
  const { record, counted } = await settleOn(before, 'FAILED');
  expect(record).toEqual(before);
  expect(counted).toEqual(['StatusDisagreement']);
});

test.each([
  extractionIn('REQUESTED'),
  extractionIn('STARTING'),
  extractionIn('UNCONFIRMED'),
  extractionIn('TIMED_OUT', { taskId: 'task-2' }),
])('nothing is settled on $status if it has no such task', async (before) => {
  const { record, counted } = await settleOn(before, 'PARTIAL');
  expect(record).toEqual(before);
  expect(counted).toEqual([]);
});

test('an outcome is logged again without a figure by a repeated delivery, as the writer may have ended before its line', async () => {
  const before = extractionIn('COMPLETED');
  const { record, counted, measured, progress } = await settleOn(before, 'COMPLETED');
  expect(record).toEqual(before);
  const facts = { extractionId: id, status: 'COMPLETED', again: true };
  expect(progress).toMatchObject([['Extraction ended.', facts]]);
  expect([counted, measured]).toEqual([[], []]);
});

test('an outcome is reported without a figure where the record has no valid time, as the write is done', async () => {
  const record = extractionIn('RUNNING', { requestedAt: 'damaged' });
  const { progress, measured } = await settleOn(record, 'FAILED');
  expect([progress.length, measured]).toEqual([1, [['OutcomeFailed', 1]]]);
});
