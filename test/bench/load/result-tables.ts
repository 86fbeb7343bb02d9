import { figure, markdownTable } from '../markdown-table.ts';
import type { Drain } from './measure-drain.ts';
import type { Flatness } from './measure-flatness.ts';
import type { Throughput } from './measure-throughput.ts';
import type { Usage } from './usage-per-extraction.ts';

const ratioOf = (last: number, first: number): string => (last / first).toFixed(2);

export const throughputTable = ({ extractions, most, perSecond, medianSeconds, cpuMs }: Throughput): string =>
  markdownTable([
    [`whole system, ${extractions} extractions, ${most} at once`, ''],
    ['extractions a second', figure(perSecond)],
    ['seconds from request to closed, median', figure(medianSeconds)],
    ['CPU of the four functions, ms per extraction (medians)', figure(cpuMs)],
  ]);

export const drainTable = (drains: readonly Drain[]): string =>
  markdownTable([
    ['due records', 'records', 'sent after, s', 'closed after, s', 'a second'],
    ...drains.map(({ what, records, sweepSeconds, seconds, perSecond }) => [
      what,
      String(records),
      sweepSeconds.toFixed(1),
      seconds.toFixed(1),
      perSecond.toFixed(1),
    ]),
  ]);

const total = ({ calls }: Usage): number => [...calls.values()].reduce((sum, number) => sum + number, 0);

const measures = [
  ['calls to AWS', total],
  ['write units', ({ writeUnits }: Usage) => writeUnits],
  ['of these the index', ({ indexUnits }: Usage) => indexUnits],
  ['read units', ({ readUnits }: Usage) => readUnits],
  ['bytes of answers', ({ answerBytes }: Usage) => answerBytes],
  ['CPU ms', ({ cpuMs }: Usage) => cpuMs],
] as const;

const parts = [
  ['extraction', 'extraction'],
  ['sweep, nothing due', 'idleSweep'],
  ['due record of a sweep', 'dueRecord'],
] as const;

/** The usage at each level, and the ratio of the last level to the first. Items of zeros are left out. */
export const flatnessTable = (all: readonly Flatness[]): string => {
  const head = [
    'per',
    '',
    ...all.map(({ level }) => `${level} open`),
    `${all.at(-1)?.level}:${all[0]?.level}`,
  ];
  const items = parts.flatMap(([what, part]) =>
    measures
      .map(([measure, of]) => ({ measure, values: all.map((flatness) => of(flatness[part])) }))
      .filter(({ values }) => values.some((value) => value !== 0))
      .map(({ measure, values }) => [
        what,
        measure,
        ...values.map(figure),
        ratioOf(values.at(-1) ?? Number.NaN, values[0] ?? Number.NaN),
      ]),
  );
  return markdownTable([head, ...items]);
};

/** How often an extraction, a sweep and a due record make each call. One figure if it is the same at all levels. */
export const callsTable = (all: readonly Flatness[]): string => {
  const items = parts.map(([what, part]) => {
    const names = [...new Set(all.flatMap((flatness) => [...flatness[part].calls.keys()]))];
    const calls = names.flatMap((name) => {
      const often = all.map((flatness) => figure(flatness[part].calls.get(name) ?? 0));
      const different = new Set(often).size === 1 ? often.slice(0, 1) : often;
      return different.join() === '0' ? [] : [`${name} × ${different.join(' / ')}`];
    });
    return [what, calls.join(', ')];
  });
  return markdownTable([
    ['per', `calls to AWS; where they differ, at ${all.map(({ level }) => level).join(' / ')} open`],
    ...items,
  ]);
};
