import { expect, test } from 'vitest';
import { startEstimates } from '#lib/extraction/api/start-estimates.ts';
import { rateItem } from '#lib/rate-limit/rate-state.ts';
import { lanes, now as start } from '../../../../support/data/lanes.ts';
import { memoryTelemetry } from '../../../../support/data/memory-telemetry.ts';

const places = lanes.flatMap(({ waiting }) => waiting);

/** One start a second, learnt, and a line of 112. */
const given = ({
  isPaused = false,
  lineUntil = 4_000,
  isComplete = true,
  fails = () => false,
}: Partial<{
  isPaused: boolean;
  lineUntil: number;
  isComplete: boolean;
  fails: () => boolean;
}> = {}) => {
  const { telemetry, counted } = memoryTelemetry();
  const reads = { rate: 0, line: 0 };
  let seconds = 0;
  const now = () => new Date(start.getTime() + seconds * 1_000);
  const estimate = startEstimates({
    store: {
      read: async (name) => {
        expect(name).toBe(rateItem);
        reads.rate += 1;
        const learnt = { perSecond: 1, accepted: 1, share: 0.5, at: now().getTime() };
        return { state: { lineUntil: now().getTime() + lineUntil, learnt } };
      },
    },
    readLine: async () => {
      reads.line += 1;
      if (fails()) throw new Error('throttled');
      return { places, pages: 2, isComplete };
    },
    limit: async () => undefined,
    isPaused: async () => isPaused,
    now,
    telemetry,
  });
  const after = (passed: number): void => {
    seconds = passed;
  };
  return { estimate, reads, after, counted };
};

test('a start in line is expected at its place and the rate, and one that does not wait is not', async () => {
  const { estimate } = given();
  expect(await estimate('app-interactive-0')).toBe('2026-03-01T06:00:02.000Z');
  expect(await estimate('another')).toBeUndefined();
});

test('the line is read once in 3 s for each page of it, and no estimate is in the past', async () => {
  const { estimate, reads, after } = given();
  await estimate('app-interactive-0');
  after(5.9);
  expect(await estimate('app-interactive-0')).toBe('2026-03-01T06:00:05.900Z');
  expect(reads).toEqual({ rate: 1, line: 1 });
  after(6);
  expect(await estimate('app-interactive-0')).toBe('2026-03-01T06:00:08.000Z');
  expect(reads).toEqual({ rate: 2, line: 2 });
});

test.each([
  ['without a line', { lineUntil: -1 }, 0],
  ['while starts are paused', { isPaused: true }, 0],
  ['of a line that is too long to be read', { isComplete: false }, 1],
])('%s nothing is expected', async (_when, options, line) => {
  const { estimate, reads } = given(options);
  expect(await estimate('app-interactive-0')).toBeUndefined();
  expect(reads).toEqual({ rate: 1, line });
});

test('a line that cannot be read fails no answer, and is not read again at once', async () => {
  let fails = true;
  const { estimate, reads, after, counted } = given({ fails: () => fails });
  expect(await estimate('app-interactive-0')).toBeUndefined();
  expect(await estimate('app-interactive-0')).toBeUndefined();
  expect(reads.line).toBe(1);
  expect(counted).toEqual(['RateUnavailable']);
  fails = false;
  after(3);
  expect(await estimate('app-interactive-0')).toBe('2026-03-01T06:00:05.000Z');
});
