import { expect, test } from 'vitest';
import { ApiError, NoAnswerError } from '../../../../lib/client/api-errors.ts';
import { NoSuchExtractionError, waitForOutcome } from '../../../../lib/client/wait-for-outcome.ts';
import type { PublicExtraction } from '../../../../lib/extraction/api/public-view.ts';

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
const collected = { ...settled, collectedAt: '2026-11-22T12:00:01.000Z' } as const;

test.each(['COMPLETED', 'PARTIAL'] as const)(
  'it reads %s at growing intervals until the results are there',
  async (status) => {
    const reads = Array<Read>(5).fill({ status: 'RUNNING' });
    const { result, pauses } = await wait(...reads, { ...settled, status }, { ...collected, status });
    expect(result).toEqual({ ...collected, status });
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  },
);

test('an outcome whose results were not collected is complete', async () => {
  const uncollected = { ...settled, collectionError: 'results-too-large' };
  expect(await wait(settled, uncollected)).toMatchObject({ result: uncollected });
});

test.each(['FAILED', 'REJECTED', 'UNCONFIRMED', 'NOT_STARTED', 'TIMED_OUT'] as const)(
  '%s has no results to wait for',
  async (status) => {
    const outcome = { status, settledAt: settled.settledAt };
    expect(await wait(outcome)).toEqual({ result: outcome, pauses: [] });
  },
);

test('failures of the API that may pass are not an end', async () => {
  const reads = [
    new NoAnswerError('https://api.example', { cause: undefined }),
    new ApiError(503, ''),
    collected,
  ];
  expect(await wait(...reads)).toMatchObject({ result: collected });
});

test('a refused read is thrown', async () => {
  expect(await wait(new ApiError(403, '{}'))).toMatchObject({ result: { error: { status: 403 } } });
});

test('an extraction of another caller is thrown as absent', async () => {
  expect(await wait(undefined)).toEqual({ result: { error: expect.any(NoSuchExtractionError) }, pauses: [] });
});
