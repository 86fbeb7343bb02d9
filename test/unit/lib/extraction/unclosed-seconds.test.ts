import { expect, test } from 'vitest';
import type { ExtractionStatus } from '../../../../lib/extraction/record.ts';
import { unclosedSeconds } from '../../../../lib/extraction/unclosed-seconds.ts';
import { at, closedExtraction, extractionIn, iso, timings } from './fixtures.ts';

const { startWindow, attemptLife, deadline, machineSlack, grace, collectFor } = timings;

test.each([
  ['REQUESTED', {}, startWindow],
  ['STARTING', { startingAt: iso(100) }, 100 + attemptLife],
  ['RUNNING', {}, deadline + machineSlack],
  ['TIMED_OUT', { settledAt: iso(8_000) }, 8_000 + grace],
  ['COMPLETED', { settledAt: iso(50) }, 50 + collectFor],
  // Late truth, come with the end of grace: a day to collect is left.
  ['FAILED', { settledAt: iso(90_000) }, 90_000 + collectFor],
] as const satisfies readonly (readonly [ExtractionStatus, object, number])[])(
  '%s with %o has to have moved on after %d s, whenever it was last looked at',
  (status, fields, movesOn) => {
    const record = extractionIn(status, { ...fields, openUntil: iso(1_000_000) });
    expect(unclosedSeconds(record, at(movesOn - 10), timings)).toBe(0);
    expect(unclosedSeconds(record, at(movesOn), timings)).toBe(0);
    expect(unclosedSeconds(record, at(movesOn + 12.5), timings)).toBe(12.5);
  },
);

test('what is closed is not late, however old', () => {
  const closed = closedExtraction({ status: 'COMPLETED', settledAt: iso(50) });
  expect(unclosedSeconds(closed, at(10_000_000), timings)).toBe(0);
});
