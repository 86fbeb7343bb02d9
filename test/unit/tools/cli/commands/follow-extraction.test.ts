import { expect, test } from 'vitest';
import type { Extraction } from '../../../../../lib/extraction/record.ts';
import { type FollowOptions, followExtraction } from '../../../../../tools/cli/commands/follow-extraction.ts';
import { at, closedExtraction, extractionIn, id, iso } from '../../../../support/extraction-fixtures.ts';

const follow = async (options: FollowOptions, ...records: readonly (Extraction | undefined)[]) => {
  const queue = [...records];
  const lines: string[] = [];
  const facts: unknown[] = [];
  let seconds = 0;
  const result = await followExtraction(id, options, {
    get: async () => queue.shift(),
    now: () => at(seconds),
    sleep: async (milliseconds) => {
      seconds += milliseconds / 1_000;
    },
    onChange: (line, fact) => {
      lines.push(line.trim());
      facts.push(fact);
    },
    onWait: () => undefined,
  });
  return { result, lines, facts, seconds };
};

test('each change is a line, until the extraction is closed', async () => {
  const running = extractionIn('RUNNING');
  const closed = closedExtraction({ status: 'COMPLETED', settledBy: 'webhook', collectedAt: iso(3) });
  const { result, lines } = await follow(
    {},
    extractionIn('REQUESTED'),
    running,
    running,
    extractionIn('COMPLETED'),
    closed,
  );
  expect(result).toEqual({ kind: 'ended', status: 'COMPLETED' });
  expect(lines).toEqual([
    '0 s  REQUESTED',
    '1 s  RUNNING',
    '3 s  COMPLETED (settled by webhook)',
    '4 s  COMPLETED (settled by webhook), collected, closed',
  ]);
});

test('the final status is returned, also of an extraction that was never started', async () => {
  const { result, lines } = await follow({}, extractionIn('REJECTED'));
  expect(result).toEqual({ kind: 'ended', status: 'REJECTED' });
  expect(lines).toEqual(['0 s  REJECTED (http-400, settled by start), closed']);
});

test('an extraction that does not exist is absent', async () => {
  expect((await follow({}, undefined)).result).toEqual({ kind: 'absent' });
});

test('the facts of a change name the task', async () => {
  const { facts } = await follow({}, extractionIn('RUNNING', { taskId: 'task-1' }), extractionIn('REJECTED'));
  expect(facts[0]).toMatchObject({ extractionId: id, status: 'RUNNING', taskId: 'task-1', closed: false });
});

test('until settled, it is followed to its outcome, and not to its close', async () => {
  const records = [extractionIn('RUNNING'), extractionIn('COMPLETED')] as const;
  const { result, lines } = await follow({ until: 'settled' }, ...records);
  expect(result).toEqual({ kind: 'ended', status: 'COMPLETED' });
  expect(lines.at(-1)).toBe('1 s  COMPLETED (settled by webhook)');
});

test('it is read a last time when the timeout ends', async () => {
  const running = Array.from({ length: 9 }, () => extractionIn('RUNNING'));
  const { result, seconds } = await follow({ timeout: 2.5 }, ...running);
  expect({ result, seconds }).toEqual({ result: { kind: 'timed-out', status: 'RUNNING' }, seconds: 2.5 });
  const ended = await follow({ timeout: 1 }, extractionIn('RUNNING'), extractionIn('REJECTED'));
  expect(ended.result).toEqual({ kind: 'ended', status: 'REJECTED' });
});

test('an interruption ends it at the next pause', async () => {
  const { result } = await follow({ interrupted: AbortSignal.abort() }, extractionIn('RUNNING'));
  expect(result).toEqual({ kind: 'interrupted', status: 'RUNNING' });
});
