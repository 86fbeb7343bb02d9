import { expect, test } from 'vitest';
import { ApiError } from '#lib/client/api-errors.ts';
import { NoSuchExtractionError, waitForOutcome } from '#lib/client/wait-for-outcome.ts';
import type { PublicExtraction } from '#lib/extraction/api/public-view.ts';

test('an extraction is read at growing intervals until its results are collected', async () => {
  const settled = { status: 'COMPLETED', settledAt: '2026-11-22T12:00:00.000Z' };
  const collected = { ...settled, advice: 'none', collectedAt: '2026-11-22T12:00:01.000Z' };
  const running = Array.from({ length: 5 }, () => ({ status: 'RUNNING' }));
  const reads = [{ status: 'REQUESTED' }, ...running, settled, collected];
  const pauses: number[] = [];
  const outcome = await waitForOutcome('e-1', {
    get: async () => reads.shift() as PublicExtraction,
    sleep: async (milliseconds) => void pauses.push(milliseconds),
  });
  expect(outcome).toEqual(collected);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  await expect(
    waitForOutcome('none', { get: async () => undefined, sleep: async () => undefined }),
  ).rejects.toThrow(NoSuchExtractionError);
});

type Read = Partial<PublicExtraction> | Error | undefined;

const wait = async (...reads: readonly Read[]) => {
  const queue = [...reads];
  const pauses: number[] = [];
  const result = await waitForOutcome('e-1', {
    get: async () => {
      if (queue.length === 0) throw new Error('more reads than answers');
      const next = queue.shift();
      if (next instanceof Error) throw next;
      return next as PublicExtraction | undefined;
    },
    sleep: async (milliseconds) => void pauses.push(milliseconds),
  }).catch((error: unknown) => ({ error }));
  return { result, pauses };
};

const settled = { status: 'COMPLETED', settledAt: '2026-11-22T12:00:00.000Z' } as const;
const collected = { ...settled, advice: 'none', collectedAt: '2026-11-22T12:00:01.000Z' } as const;

test('an outcome whose results were not collected is complete', async () => {
  const uncollected = { ...settled, advice: 'fix-request', collectionError: 'results-too-large' } as const;
  expect(await wait(settled, uncollected)).toMatchObject({ result: uncollected });
});

test('it reads TIMED_OUT until its grace is over, as an outcome may still follow', async () => {
  const timedOut = { status: 'TIMED_OUT', settledAt: settled.settledAt, advice: 'wait' } as const;
  const closed = { ...timedOut, advice: 'ask-provider' } as const;
  expect(await wait(timedOut, closed)).toMatchObject({ result: closed });
  expect(await wait(timedOut, collected)).toMatchObject({ result: collected });
});

test('a refused read is thrown', async () => {
  expect(await wait(new ApiError(403, '{}'))).toMatchObject({ result: { error: { status: 403 } } });
});
