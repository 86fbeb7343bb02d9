import { median } from '../quantile.ts';
import type { Call, Invocation } from './invocation.ts';

/** What a number of extractions, or of sweeps, have taken, per one of them. */
export type Usage = {
  /** Calls to AWS by operation. */
  readonly calls: ReadonlyMap<string, number>;
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Of all answers of AWS. Where it does not grow, nothing that the functions do with them can. */
  readonly answerBytes: number;
  /** Milliseconds, the medians of each function added up. Without first invocations of a process. */
  readonly cpuMs: number;
  readonly wallMs: number;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The reads of secrets are per process, and per hour: how many there are says nothing of an extraction. */
const isPerProcess = (operation: string): boolean => operation.startsWith('SecretsManager');

const callsPer = (calls: readonly Call[], count: number): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { operation } of calls) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  return new Map([...counts].sort().map(([operation, number]) => [operation, number / count]));
};

/** Medians of each function, added up: each is invoked once for an extraction. */
const mediansOf = (invocations: readonly Invocation[], of: 'cpuMs' | 'wallMs'): number => {
  const warm = invocations.filter(({ cold }) => !cold);
  const names = [...new Set(warm.map(({ functionName }) => functionName))];
  return sum(
    names.map((name) =>
      median(warm.filter(({ functionName }) => functionName === name).map((one) => one[of])),
    ),
  );
};

export const usageOf = (invocations: readonly Invocation[], count: number): Usage => {
  const calls = invocations
    .flatMap((invocation) => invocation.calls)
    .filter(({ operation }) => !isPerProcess(operation));
  return {
    calls: callsPer(calls, count),
    writeUnits: sum(calls.map(({ writeUnits }) => writeUnits)) / count,
    readUnits: sum(calls.map(({ readUnits }) => readUnits)) / count,
    answerBytes: sum(calls.map(({ answerBytes }) => answerBytes)) / count,
    cpuMs: mediansOf(invocations, 'cpuMs'),
    wallMs: mediansOf(invocations, 'wallMs'),
  };
};

const minus = (more: number, less: number, count: number): number => (more - less) / count;

/** What one due record takes: a sweep that found `count` of them, less one that found none. */
export const usagePerDue = (sweep: Usage, idle: Usage, count: number): Usage => ({
  calls: new Map(
    [...sweep.calls].map(([operation, calls]) => [
      operation,
      minus(calls, idle.calls.get(operation) ?? 0, count),
    ]),
  ),
  writeUnits: minus(sweep.writeUnits, idle.writeUnits, count),
  readUnits: minus(sweep.readUnits, idle.readUnits, count),
  answerBytes: minus(sweep.answerBytes, idle.answerBytes, count),
  cpuMs: minus(sweep.cpuMs, idle.cpuMs, count),
  wallMs: minus(sweep.wallMs, idle.wallMs, count),
});
