import { expect, test } from 'vitest';
import { createStartLimiter } from '../../../../lib/rate-limit/start-limiter.ts';
import { memoryTelemetry } from '../../../support/data/memory-telemetry.ts';
import { memoryBreakerStore } from '../../../support/stores/memory-breaker-store.ts';
import { memoryStartLine } from '../../../support/stores/memory-start-line.ts';

/** The limiter of one process, at two starts a second, in a time that the test moves. */
const ofOneProcess = () => {
  const store = memoryBreakerStore();
  const seen = { now: 1_000_000, reads: 0, writes: 0, woken: 0 };
  const limiter = createStartLimiter({
    store: {
      ...store,
      read: (...what) => {
        seen.reads += 1;
        return store.read(...what);
      },
      replace: (...what) => {
        seen.writes += 1;
        return store.replace(...what);
      },
    },
    line: memoryStartLine(),
    limit: async () => 2,
    wakeDispatcher: async () => {
      seen.woken += 1;
    },
    now: () => new Date(seen.now),
    newVersion: () => crypto.randomUUID(),
    telemetry: memoryTelemetry().telemetry,
  });
  return { limiter, seen };
};

test('starts go at the rate, who comes then opens a line behind which all wait, and what a process has read or written serves a second', async () => {
  const { limiter, seen } = ofOneProcess();
  const { admit } = limiter;
  const asking = { isReleased: false, isTurn: false };
  const ask = () => admit({ caller: 'orders', group: 'bank', extraction: 'e-1' }, asking);
  const answers = [await ask(), await ask(), await ask(), await ask(), await ask()];
  expect(answers).toEqual(['go', 'go', 'go', 'wait', 'wait']);
  expect(seen).toMatchObject({ reads: 1, writes: 4 });
  // A second later the rate would take two more, and the line is older.
  seen.now += 1_000;
  expect([await ask(), seen.reads]).toEqual(['wait', 2]);
  seen.now += 5_000;
  expect(await ask()).toBe('go');
});

test('who is held wakes a dispatcher once a second, while none runs', async () => {
  const { limiter, seen } = ofOneProcess();
  const [extractionId, requestId, slot] = ['e-1', 'r-1', 'slot'];
  const entry = { extractionId, requestId, slot, attempt: 0, waitedMs: 0, expiresAt: 0 };
  const woken: number[] = [];
  for (const ms of [0, 999, 1]) {
    seen.now += ms;
    await limiter.wait(entry, true);
    woken.push(seen.woken);
  }
  expect(woken).toEqual([1, 1, 2]);
});
