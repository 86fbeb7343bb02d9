import { expect, test } from 'vitest';
import { createStartLimiter } from '../../../../lib/rate-limit/start-limiter.ts';
import type { StartLineStore } from '../../../../lib/rate-limit/start-line.ts';
import { memoryTelemetry } from '../../../support/data/memory-telemetry.ts';
import { memoryBreakerStore } from '../../../support/stores/memory-breaker-store.ts';

test('starts go at the rate, who comes then opens a line behind which all wait, and what a process has read or written serves a second', async () => {
  const store = memoryBreakerStore();
  let [now, reads, writes] = [1_000_000, 0, 0];
  const { admit } = createStartLimiter({
    store: {
      ...store,
      read: (...what) => {
        reads += 1;
        return store.read(...what);
      },
      replace: (...what) => {
        writes += 1;
        return store.replace(...what);
      },
    },
    line: {} as StartLineStore,
    limit: async () => 2,
    wakeDispatcher: async () => undefined,
    now: () => new Date(now),
    newVersion: () => crypto.randomUUID(),
    telemetry: memoryTelemetry().telemetry,
  });
  const asking = { isReleased: false, isTurn: false };
  const ask = () => admit({ caller: 'orders', group: 'bank', extraction: 'e-1' }, asking);
  const answers = [await ask(), await ask(), await ask(), await ask(), await ask()];
  expect({ answers, reads, writes }).toEqual({
    answers: ['go', 'go', 'go', 'wait', 'wait'],
    reads: 1,
    writes: 4,
  });
  // A second later the rate would take two more, and the line is older.
  now += 1_000;
  expect([await ask(), reads]).toEqual(['wait', 2]);
  now += 5_000;
  expect(await ask()).toBe('go');
});
