import type { Call, Entry } from '../ledger/ledger.ts';
import { median } from '../quantile.ts';
import type { Units } from '../units/count-units.ts';

export const measures = [
  'calls to AWS',
  'write units',
  'of these the index',
  'read units',
  'bytes of answers',
  'CPU ms',
] as const;

export type Usage = Readonly<Record<(typeof measures)[number], number>>;

/** Secrets are read once per process and hour, not per extraction. */
const isCounted = ({ service }: Call): boolean => service !== 'provider' && service !== 'secretsmanager';

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The mean usage of `count`. Each invocation counts with the median CPU time of its function, without the first of a process. */
export const usageOf = (entries: readonly Entry[], count: number, units: ReadonlyMap<Call, Units>): Usage => {
  const calls = entries.flatMap((entry) => entry.calls).filter(isCounted);
  const unitsOf = (of: (units: Units) => number) =>
    sum(calls.flatMap((call) => units.get(call) ?? []).map(of)) / count;
  const cpuMs = [...Map.groupBy(entries, (entry) => entry.function).values()].map((ofFunction) => {
    const warm = ofFunction.filter(({ initCpuMs }) => initCpuMs === undefined).map((entry) => entry.cpuMs);
    return warm.length === 0 ? 0 : ofFunction.length * median(warm);
  });
  return {
    'calls to AWS': calls.length / count,
    'write units': unitsOf(({ write, index }) => write + index),
    'of these the index': unitsOf(({ index }) => index),
    'read units': unitsOf(({ read }) => read),
    'bytes of answers': sum(calls.map(({ answerBytes }) => answerBytes)) / count,
    'CPU ms': sum(cpuMs) / count,
  };
};

/** The usage of a due record: of a sweep that found `count` of them, less one that found none, divided by `count`. */
export const usageOfDue = (sweep: Usage, idle: Usage, count: number): Usage =>
  Object.fromEntries(measures.map((name) => [name, (sweep[name] - idle[name]) / count])) as Usage;
