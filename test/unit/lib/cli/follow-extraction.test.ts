import { expect, test } from 'vitest';
import { followExtraction } from '../../../../lib/cli/follow-extraction.ts';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import { at, closedExtraction, extractionIn, id, iso } from '../../../support/extraction-fixtures.ts';

const follow = async (...records: readonly (Extraction | undefined)[]) => {
  const queue = [...records];
  const lines: string[] = [];
  let seconds = 0;
  const result = await followExtraction(id, {
    get: async () => queue.shift(),
    now: () => at(seconds),
    sleep: async (milliseconds) => {
      seconds += milliseconds / 1_000;
    },
    onChange: (line) => void lines.push(line.trim()),
    onWait: () => undefined,
  });
  return { result, lines };
};

test('each change is a line, until the extraction is closed', async () => {
  const running = extractionIn('RUNNING');
  const closed = closedExtraction({ status: 'COMPLETED', settledBy: 'webhook', collectedAt: iso(3) });
  const { result, lines } = await follow(
    extractionIn('REQUESTED'),
    running,
    running,
    extractionIn('COMPLETED'),
    closed,
  );
  expect(result).toBe('COMPLETED');
  expect(lines).toEqual([
    '0 s  REQUESTED',
    '1 s  RUNNING',
    '3 s  COMPLETED (settled by webhook)',
    '4 s  COMPLETED (settled by webhook), collected, closed',
  ]);
});

test('the final status is returned, also of an extraction that was never started', async () => {
  const { result, lines } = await follow(extractionIn('REJECTED'));
  expect(result).toBe('REJECTED');
  expect(lines).toEqual(['0 s  REJECTED (http-400, settled by start), closed']);
});

test('an extraction that does not exist is absent', async () => {
  expect((await follow(undefined)).result).toBe('absent');
});
