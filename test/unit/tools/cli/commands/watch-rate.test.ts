import { expect, test } from 'vitest';
import { at, iso } from '#support/data/extraction-fixtures.ts';
import type { LineHistory } from '#tools/cli/aws/read-line-history.ts';
import { watchRate } from '#tools/cli/commands/watch-rate.ts';

test('each period that is over is printed once, with the changes of the rate between them, until Ctrl-C', async () => {
  const printed: unknown[] = [];
  const waits: (string | undefined)[] = [];
  const stopped = new AbortController();
  let now = 190;
  const minute = (seconds: number, waiting: number) => ({ at: at(seconds).getTime(), waiting, started: 60 });
  const histories: readonly LineHistory[] = [
    {
      periodSeconds: 60,
      periods: [minute(0, 200), { ...minute(60, 100), refused: 6, perSecond: 1.7 }, minute(120, 1)],
      changes: [{ at: iso(30), judged: 'cut', perSecond: 1.7, share: 0.09, refused: 6 }],
    },
    {
      periodSeconds: 60,
      periods: [minute(60, 100), minute(120, 0), minute(180, 0)],
      changes: [{ at: iso(30), judged: 'cut', perSecond: 1.7 }],
    },
  ];
  let reads = 0;
  const lanes = [{ caller: 'c', priority: 'background' as const, waiting: [] }];
  const code = await watchRate(
    {
      readRate: async () => ({ lanes, from: 'none' }),
      readHistory: async () => histories[reads++] ?? { periodSeconds: 60, periods: [], changes: [] },
      periodSeconds: 60,
      everyMs: 10,
    },
    {
      print: (line) => printed.push(line),
      hint: (line) => printed.push(line),
      wait: (text) => waits.push(text),
      now: () => at(now),
      sleep: async () => {
        now += 60;
        if (reads === 2) stopped.abort();
      },
      interrupted: () => stopped.signal,
    },
  );
  expect(printed).toEqual([
    'TIME (UTC)      WAIT   STARTED   REFUSED      RATE',
    '12:00:00         200        60         –         –  █',
    '12:00:30   the rate became 1.7/s: 9 % were refused',
    '12:01:00         100        60         6     1.7/s  ▄',
    '12:02:00           0        60         –         –',
  ]);
  expect(waits).toContain('0 starts wait in line');
  expect(code).toBe(130);
});
