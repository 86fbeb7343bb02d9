import { expect, test } from 'vitest';
import { phaseOf } from '#lib/extraction/phase.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import { closedExtraction, extractionIn } from '../../../support/data/extraction-fixtures.ts';

const without = (record: Extraction, ...names: readonly (keyof Extraction)[]) =>
  Object.fromEntries(
    Object.entries(record).filter(([name]) => !names.some((one) => one === name)),
  ) as Extraction;

test.each<readonly [string, Extraction, string]>([
  ['requested', extractionIn('REQUESTED'), 'requested'],
  ['starting', extractionIn('STARTING'), 'starting'],
  ['running', extractionIn('RUNNING'), 'running'],
  ['in grace', extractionIn('TIMED_OUT'), 'grace'],
  ['collecting', extractionIn('FAILED'), 'collecting'],
  ['closed', closedExtraction({ status: 'COMPLETED' }), 'closed'],
  ['starting, by nobody', without(extractionIn('STARTING'), 'attemptId'), 'incomplete'],
  ['running, without its task', without(extractionIn('RUNNING'), 'taskId'), 'incomplete'],
  ['open in a status that never is', { ...extractionIn('UNCONFIRMED'), dueShard: 0 }, 'incomplete'],
])('a record that is %s', (_, record, phase) => {
  expect(phaseOf(record).phase).toBe(phase);
});

test('has its times even if the record lacks them, and keeps what is unknown', () => {
  const { requestedAt, deadlineAt } = extractionIn('RUNNING');
  const bare = (status: 'STARTING' | 'RUNNING' | 'TIMED_OUT' | 'PARTIAL') =>
    phaseOf(without(extractionIn(status), 'startingAt', 'startedAt', 'settledAt'));
  expect(bare('STARTING')).toMatchObject({ startingAt: requestedAt });
  expect(bare('RUNNING')).toMatchObject({ startedAt: requestedAt });
  expect(bare('TIMED_OUT')).toMatchObject({ settledAt: deadlineAt });
  expect(bare('PARTIAL')).toMatchObject({ settledAt: requestedAt });
  const later = { ...extractionIn('RUNNING'), ofLater: 1 };
  expect(phaseOf(later)).toMatchObject({ ofLater: 1 });
});
