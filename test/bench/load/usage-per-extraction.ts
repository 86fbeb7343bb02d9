import { type Call, type Entry, nameOfCall } from '../ledger/entry.ts';
import { median } from '../quantile.ts';
import type { Units } from '../units/dynamo-units.ts';

/** The usage of an extraction, or of a sweep: the mean over a number of them. */
export type Usage = {
  /** Calls to AWS by name. */
  readonly calls: ReadonlyMap<string, number>;
  /** Of tables and indexes. */
  readonly writeUnits: number;
  /** Of these, those of the indexes. */
  readonly indexUnits: number;
  readonly readUnits: number;
  /** Bytes of all answers of AWS. If they do not grow, the work on them does not grow either. */
  readonly answerBytes: number;
  /** CPU milliseconds: the sum of each function's median, without the first invocation of a process. */
  readonly cpuMs: number;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Secrets are read once per process and hour, not per extraction. */
const isCounted = ({ service }: Call): boolean => service !== 'provider' && service !== 'secretsmanager';

const callsPer = (names: readonly string[], count: number): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map([...counts].sort().map(([name, number]) => [name, number / count]));
};

/** The sum of each function's median, because each is invoked once for an extraction. */
export const cpuMsOf = (entries: readonly Entry[]): number => {
  const warm = entries.filter(({ ordinal }) => ordinal > 1);
  const names = [...new Set(warm.map((entry) => entry.function))];
  return sum(
    names.map((name) => median(warm.filter((entry) => entry.function === name).map(({ cpuMs }) => cpuMs))),
  );
};

export const usageOf = (entries: readonly Entry[], count: number, units: ReadonlyMap<Call, Units>): Usage => {
  const calls = entries.flatMap((entry) => entry.calls).filter(isCounted);
  const unitsPer = (unitsIn: (units: Units) => number): number =>
    sum(calls.flatMap((call) => units.get(call) ?? []).map(unitsIn)) / count;
  return {
    calls: callsPer(
      calls.map((call) => nameOfCall(call, units.get(call)?.table)),
      count,
    ),
    writeUnits: unitsPer(({ write, index }) => write + index),
    indexUnits: unitsPer(({ index }) => index),
    readUnits: unitsPer(({ read }) => read),
    answerBytes: sum(calls.map(({ answerBytes }) => answerBytes)) / count,
    cpuMs: cpuMsOf(entries),
  };
};

/** The usage of a due record: a sweep that found `count` of them, less a sweep that found none, divided by `count`. */
export const usagePerDue = (sweep: Usage, idle: Usage, count: number): Usage => {
  const per = (more: number, less: number): number => (more - less) / count;
  return {
    calls: new Map([...sweep.calls].map(([name, calls]) => [name, per(calls, idle.calls.get(name) ?? 0)])),
    writeUnits: per(sweep.writeUnits, idle.writeUnits),
    indexUnits: per(sweep.indexUnits, idle.indexUnits),
    readUnits: per(sweep.readUnits, idle.readUnits),
    answerBytes: per(sweep.answerBytes, idle.answerBytes),
    cpuMs: per(sweep.cpuMs, idle.cpuMs),
  };
};
