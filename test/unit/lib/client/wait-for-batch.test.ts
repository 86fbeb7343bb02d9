import { expect, test } from 'vitest';
import { ApiError } from '#lib/client/api-errors.ts';
import { extractionsClient } from '#lib/client/extractions-client.ts';
import { waitForBatch } from '#lib/client/wait-for-batch.ts';
import type { BatchSummary } from '#lib/extraction/api/public-view.ts';

test('a batch is summarized, and waited for until nothing more happens by itself', async () => {
  const answers = [
    { extractions: 2, open: 1, counts: [{ status: 'RUNNING', extractions: 1 }] },
    { extractions: 2, open: 0, counts: [{ status: 'COMPLETED', advice: 'none', extractions: 2 }] },
  ];
  const { summarizeBatch, waitForBatch } = extractionsClient({
    apiUrl: 'https://api.example',
    fetch: async () => Response.json(answers.shift()),
  });
  expect(await summarizeBatch('morning-2026-11-27')).toMatchObject({ open: 1 });
  expect(await waitForBatch('morning-2026-11-27')).toMatchObject({ open: 0 });
});

const summary = (open: number, counts: BatchSummary['counts'], extractions = 3): BatchSummary => ({
  batch: 'b',
  extractions,
  isComplete: true,
  open,
  counts,
});
const running = summary(2, [{ status: 'RUNNING', extractions: 2 }]);

test('a batch is over once all that is open has the advice to wait, and a failure of the API is no end', async () => {
  const collecting = summary(1, [{ status: 'COMPLETED', extractions: 1 }]);
  const over = summary(2, [
    { status: 'TIMED_OUT', advice: 'wait', extractions: 2 },
    { status: 'COMPLETED', advice: 'none', extractions: 1 },
  ]);
  const answers = [running, new ApiError(503, ''), collecting, over];
  const seen: BatchSummary[] = [];
  const ended = await waitForBatch('b', {
    summarize: async () => {
      const answer = answers.shift();
      if (answer === undefined || answer instanceof ApiError) throw answer;
      return answer;
    },
    sleep: async () => undefined,
    onSummary: (one) => seen.push(one),
  });
  expect([ended, seen]).toEqual([over, [running, collecting, over]]);
});

test.each([
  ['is asked for after pauses that double', 1, [2_000, 4_000, 8_000]],
  ['that is large is asked for less often, as each summary reads it', 10_000, [2_000, 30_000, 30_000]],
])('a batch %s', async (_, extractions, pauses) => {
  const sleeps: number[] = [];
  const stop = new Error('stop');
  const wait = waitForBatch('b', {
    summarize: async () => summary(1, [], extractions),
    sleep: async (ms) => {
      sleeps.push(ms);
      if (sleeps.length === 3) throw stop;
    },
  });
  await expect(wait).rejects.toBe(stop);
  expect(sleeps).toEqual(pauses);
});
