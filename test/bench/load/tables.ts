import type { Flatness } from './measure-flatness.ts';
import type { Throughput } from './measure-throughput.ts';
import type { WebhookRate } from './measure-webhook.ts';
import type { Usage } from './usage.ts';
import type { Kind } from './webhook-process.ts';

type Cell = string | number;

/** Rows as a Markdown table, the first of them its head; as docs/performance.md has it. */
export const markdownTable = (rows: readonly (readonly Cell[])[]): string => {
  const [head = [], ...body] = rows;
  const line = (cells: readonly Cell[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
};

/** Whole numbers as they are, others by two places, or by one from 100 on. */
export const figure = (value: number): string =>
  Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 100 ? 2 : 1);

/** 0 beside 0 has not grown either. */
export const ratioOf = (last: number, first: number): string =>
  first === 0 && last === 0 ? '1.00' : (last / first).toFixed(2);

export const throughputTable = ({ extractions, most, perSecond, medianSeconds, usage }: Throughput): string =>
  markdownTable([
    ['whole system', ''],
    ['extractions a second', figure(perSecond)],
    [
      `seconds from request to closed, median (${most} at once, ${extractions} in all)`,
      figure(medianSeconds),
    ],
    ['CPU of our four functions, ms an extraction (medians)', figure(usage.cpuMs)],
  ]);

const deliveries: Readonly<Record<Kind, string>> = {
  valid: 'valid, plain',
  encrypted: 'valid, encrypted',
  forged: 'forged: 401',
  bare: 'the same calls to AWS, and nothing else',
};

export const webhookTable = (rates: Readonly<Record<Kind, WebhookRate>>): string =>
  markdownTable([
    ['delivery', 'a second', 'ratio to bare', 'CPU µs', 'ratio to bare'],
    ...(['valid', 'encrypted', 'forged', 'bare'] as const).map((kind) => [
      deliveries[kind],
      rates[kind].perSecond.toFixed(0),
      ratioOf(rates[kind].perSecond, rates.bare.perSecond),
      rates[kind].cpuMicroseconds.toFixed(0),
      ratioOf(rates[kind].cpuMicroseconds, rates.bare.cpuMicroseconds),
    ]),
  ]);

const total = ({ calls }: Usage): number => [...calls.values()].reduce((sum, number) => sum + number, 0);

const measures = [
  ['calls to AWS', total],
  ['write units', ({ writeUnits }: Usage) => writeUnits],
  ['read units', ({ readUnits }: Usage) => readUnits],
  ['bytes of answers', ({ answerBytes }: Usage) => answerBytes],
  ['CPU ms', ({ cpuMs }: Usage) => cpuMs],
] as const;

const parts = [
  ['extraction', 'extraction'],
  ['sweep, nothing due', 'idleSweep'],
  ['due record of a sweep', 'dueRecord'],
] as const;

/** What each takes at each level, and the last level's beside the first's. */
export const flatnessTable = (all: readonly Flatness[]): string => {
  const ends = (values: readonly number[]) => ratioOf(values.at(-1) ?? 0, values[0] ?? 0);
  const head = [
    'per',
    '',
    ...all.map(({ level }) => `${level} open`),
    `${all.at(-1)?.level}:${all[0]?.level}`,
  ];
  const rows = parts.flatMap(([what, part]) =>
    measures.map(([measure, of]) => {
      const values = all.map((flatness) => of(flatness[part]));
      return [what, measure, ...values.map(figure), ends(values)];
    }),
  );
  return markdownTable([head, ...rows]);
};

/** Every operation of one extraction, of one sweep and of one due record, at each level. */
export const callsTable = (all: readonly Flatness[]): string => {
  const rows = parts.flatMap(([what, part]) => {
    const operations = new Set(all.flatMap((flatness) => [...flatness[part].calls.keys()]));
    return [...operations]
      .map((operation) => all.map((flatness) => flatness[part].calls.get(operation) ?? 0))
      .map((values, index) => [what, [...operations][index] ?? '', ...values.map(figure)])
      .filter(([, , ...values]) => values.some((value) => value !== '0'));
  });
  return markdownTable([['per', 'call', ...all.map(({ level }) => `${level} open`)], ...rows]);
};
