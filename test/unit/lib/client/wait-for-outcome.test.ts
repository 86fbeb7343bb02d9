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

const settled = { status: 'COMPLETED', settledAt: '2026-11-22T12:00:00.000Z' };
const timedOut = { ...settled, status: 'TIMED_OUT', advice: 'wait' };

test.each([
  ['its results were not collected', settled, { ...settled, advice: 'fix-request', collectionError: 'x' }],
  ['the grace of TIMED_OUT is over', timedOut, { ...timedOut, advice: 'ask-provider' }],
  ['another outcome came within the grace', timedOut, { ...settled, advice: 'none', collectedAt: 'x' }],
])('an outcome is complete once %s', async (_when, before, outcome) => {
  const reads: unknown[] = [before, outcome];
  const get = async () => reads.shift() as PublicExtraction;
  expect(await waitForOutcome('e-1', { get, sleep: async () => undefined })).toEqual(outcome);
});

test('a refused read is thrown', async () => {
  const reads = [new ApiError(403, '{}')];
  const get = async () => {
    const refused = reads.shift();
    if (refused !== undefined) throw refused;
    return undefined;
  };
  const waiting = waitForOutcome('e-1', { get, sleep: async () => undefined });
  await expect(waiting).rejects.toMatchObject({ status: 403 });
});
