import { expect, test } from 'vitest';
import type { Flatness, Level } from '../../../bench/load/measure-flatness.ts';
import { ratesOf } from '../../../bench/load/measure-webhook.ts';
import { callsTable, figure, flatnessTable, ratioOf, webhookTable } from '../../../bench/load/tables.ts';
import type { Usage } from '../../../bench/load/usage.ts';

const usage = (calls: number, more: Partial<Usage> = {}): Usage => ({
  calls: new Map([['Extractions GetItem', calls]]),
  ...{ writeUnits: 0, readUnits: calls, answerBytes: 100, cpuMs: 2, wallMs: 3 },
  ...more,
});

const at = (level: Level, extraction: Usage): Flatness => ({
  ...{ level, extraction },
  idleSweep: usage(16),
  dueRecord: usage(5),
});

test('the last level stands beside the first', () => {
  const table = flatnessTable([at(10, usage(2)), at(100, usage(2)), at(1_000, usage(3))]);
  expect(table.split('\n')[0]).toBe('| per |  | 10 open | 100 open | 1000 open | 1000:10 |');
  expect(table).toContain('| extraction | calls to AWS | 2 | 2 | 3 | 1.50 |');
  expect(table).toContain('| extraction | write units | 0 | 0 | 0 | 1.00 |');
  expect(table).toContain('| sweep, nothing due | calls to AWS | 16 | 16 | 16 | 1.00 |');
});

test('a call that appears at one level only is listed', () => {
  const more = usage(2, { calls: new Map([['Extractions Scan', 1]]) });
  const table = callsTable([at(10, usage(2)), at(1_000, more)]);
  expect(table).toContain('| extraction | Extractions GetItem | 2 | 0 |');
  expect(table).toContain('| extraction | Extractions Scan | 0 | 1 |');
});

test('what has become less than nothing of something is no ratio of 1', () => {
  expect(ratioOf(0, 0)).toBe('1.00');
  expect(ratioOf(3, 0)).toBe('Infinity');
  expect(ratioOf(3, 2)).toBe('1.50');
});

test('figures have two places, or one from 100 on', () => {
  expect([2, 2.345, 234.56].map(figure)).toEqual(['2', '2.35', '234.6']);
});

test('a rate is the median of its turns', () => {
  const turn = (seconds: number) =>
    (['valid', 'encrypted', 'forged', 'bare'] as const).map((kind) => ({
      ...{ kind, deliveries: 100, cpuSeconds: seconds / 2 },
      seconds: kind === 'valid' ? seconds * 2 : seconds,
    }));
  const rates = ratesOf([0.1, 0.2, 1].flatMap(turn));
  expect(rates.bare).toEqual({ kind: 'bare', perSecond: 500, cpuMicroseconds: 1_000 });
  expect(webhookTable(rates)).toContain('| valid, plain | 250 | 0.50 | 1000 | 1.00 |');
});
