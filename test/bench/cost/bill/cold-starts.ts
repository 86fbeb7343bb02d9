import { coldStartShare, cpuRatio } from '../../assumptions.ts';
import type { Entry } from '../../ledger/entry.ts';
import { median } from '../../quantile.ts';
import type { Facts } from '../template-facts.ts';
import { billedMs } from './billed-duration.ts';
import type { Charge } from './charge.ts';
import { memoryOf } from './invocation-charges.ts';

export const COLD_START = 'cold starts';

/** A function's first invocation in a process, the median of the run. */
type ColdStart = {
  readonly function: string;
  /** Node's start and the loading of the bundle. */
  readonly initMs: number;
  /** What the first invocation is billed for by itself: it connects, logs in, and runs code that is not compiled yet. */
  readonly firstMs: number;
  /** Secrets that it reads. */
  readonly secretReads: number;
};

/**
 * Of each function. Lambda gives the init phase about two vCPUs, whatever the memory, so it takes its CPU time and no more
 * (https://bitesizedserverless.com/bite/when-is-the-lambda-init-phase-free-and-when-is-it-billed/; AWS does not document it).
 */
export const coldStartsOf = (all: readonly Entry[], facts: Facts): readonly ColdStart[] => {
  const first = all.filter(({ initCpuMs }) => initCpuMs !== undefined);
  return [...Map.groupBy(first, (entry) => entry.function)].map(([name, entries]) => {
    const medianOf = (value: (entry: Entry) => number): number => median(entries.map(value));
    return {
      function: name,
      initMs: medianOf(({ initCpuMs = 0 }) => initCpuMs) * cpuRatio,
      firstMs: medianOf(({ calls, cpuMs }) => billedMs(calls, cpuMs, memoryOf(name, facts))),
      secretReads: medianOf(
        ({ calls }) => calls.filter(({ service }) => service === 'secretsmanager').length,
      ),
    };
  });
};

/** What cold starts add to invocations that were priced as warm ones. */
export const coldStartCharges = (
  warm: readonly Charge[],
  coldStarts: readonly ColdStart[],
  facts: Facts,
): readonly Charge[] =>
  coldStarts.flatMap(({ function: where, initMs, firstMs, secretReads }) => {
    // Polls are priced apart: `reconcile-extraction, first poll`.
    const ofFunction = warm.filter((charge) => charge.where.split(',')[0] === where);
    const sum = (price: Charge['price']): number =>
      ofFunction.reduce((total, charge) => total + (charge.price === price ? charge.quantity : 0), 0);
    const invocations = sum('invocation');
    const cold = invocations * (memoryOf(where, facts) / 1_024) * ((initMs + firstMs) / 1_000);
    const longer = coldStartShare * Math.max(0, cold - sum('armGigabyteSecond'));
    const reads = coldStartShare * invocations * secretReads;
    const charges: readonly Charge[] = [
      { where, what: COLD_START, price: 'armGigabyteSecond', quantity: longer },
      { where, what: `${COLD_START}: reads of secrets`, price: 'secretRead', quantity: reads },
    ];
    return charges.filter(({ quantity }) => quantity > 0);
  });
