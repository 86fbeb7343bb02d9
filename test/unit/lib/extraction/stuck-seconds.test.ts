import { expect, test } from 'vitest';
import type { ExtractionStatus } from '#lib/extraction/record.ts';
import { stuckSeconds } from '#lib/extraction/stuck-seconds.ts';
import {
  at,
  closedExtraction,
  extractionIn,
  iso,
  timings,
} from '../../../support/data/extraction-fixtures.ts';

const { startWindow, maxWait, startTimeout, deadline, machineSlack, grace, collectFor } = timings;

test.each([
  ['REQUESTED', {}, startWindow + maxWait],
  ['STARTING', { startingAt: iso(100) }, 100 + startTimeout],
  ['RUNNING', {}, deadline + machineSlack],
  ['TIMED_OUT', { settledAt: iso(8_000) }, 8_000 + grace],
  ['COMPLETED', { settledAt: iso(50) }, 50 + collectFor],
] as const satisfies readonly (readonly [ExtractionStatus, object, number])[])(
  '%s with %o is stuck after %d s, however often it was rescheduled',
  (status, fields, movesOn) => {
    const record = extractionIn(status, { ...fields, dueAt: iso(1_000_000) });
    expect(stuckSeconds(record, at(movesOn - 10), timings)).toBe(0);
    expect(stuckSeconds(record, at(movesOn), timings)).toBe(0);
    expect(stuckSeconds(record, at(movesOn + 12.5), timings)).toBe(12.5);
  },
);

test('a closed record is never stuck', () => {
  const closed = closedExtraction({ status: 'COMPLETED', settledAt: iso(50) });
  expect(stuckSeconds(closed, at(10_000_000), timings)).toBe(0);
});
