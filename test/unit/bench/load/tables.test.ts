import { expect, test } from 'vitest';
import type { Flatness, Level } from '../../../bench/load/measure-flatness.ts';
import { ratesOf } from '../../../bench/load/measure-webhook.ts';
import { callsTable, flatnessTable, webhookTable } from '../../../bench/load/tables.ts';
import type { Usage } from '../../../bench/load/usage.ts';

const usage = (calls: number, more: Partial<Usage> = {}): Usage => ({
  calls: new Map([['Extractions GetItem', calls]]),
  ...{ writeUnits: 0, indexUnits: 0, readUnits: calls, answerBytes: 100, cpuMs: 2 },
  ...more,
});

const at = (level: Level, extraction: Usage): Flatness => ({
  ...{ level, extraction },
  idleSweep: usage(16),
  dueRecord: usage(5),
});

/** Without the spaces that make columns as wide as their widest cell. */
const rowsOf = (table: string): readonly string[] =>
  table.split('\n').map((row) => row.replaceAll(/ +/g, ' '));

test('the last level stands beside the first', () => {
  const rows = rowsOf(flatnessTable([at(10, usage(2)), at(100, usage(2)), at(1_000, usage(3))]));
  expect(rows[0]).toBe('| per | | 10 open | 100 open | 1000 open | 1000:10 |');
  expect(rows).toContain('| extraction | calls to AWS | 2 | 2 | 3 | 1.50 |');
  expect(rows).toContain('| sweep, nothing due | calls to AWS | 16 | 16 | 16 | 1.00 |');
});

test('what none takes is left out, and what the last level alone takes is not', () => {
  const rows = rowsOf(flatnessTable([at(10, usage(2)), at(1_000, usage(2, { writeUnits: 3 }))]));
  expect(rows.filter((row) => row.includes('write units'))).toEqual([
    '| extraction | write units | 0 | 3 | Infinity |',
  ]);
});

test('a call is told once, and at each level where they differ', () => {
  const calls = (scans: number) => ({
    calls: new Map([
      ['Extractions GetItem', 2],
      ['Extractions Scan', scans],
      ['open Query', 0],
    ]),
  });
  const rows = rowsOf(callsTable([at(10, usage(2, calls(0))), at(1_000, usage(2, calls(1)))]));
  expect(rows[0]).toBe('| per | calls to AWS; where they differ, at 10 / 1000 open |');
  expect(rows).toContain('| extraction | Extractions GetItem × 2, Extractions Scan × 0 / 1 |');
  expect(rows).toContain('| due record of a sweep | Extractions GetItem × 5 |');
});

test('a rate is the median of its turns', () => {
  const turn = (seconds: number) =>
    (['valid', 'encrypted', 'forged', 'bare'] as const).map((kind) => ({
      ...{ kind, deliveries: 100, cpuSeconds: seconds / 2 },
      seconds: kind === 'valid' ? seconds * 2 : seconds,
    }));
  const rates = ratesOf([0.1, 0.2, 1].flatMap(turn));
  expect(rates.bare).toEqual({ kind: 'bare', perSecond: 500, cpuMicroseconds: 1_000 });
  expect(rowsOf(webhookTable(rates))).toContain('| valid, plain | 250 | 0.50 | 1000 | 1.00 |');
});
