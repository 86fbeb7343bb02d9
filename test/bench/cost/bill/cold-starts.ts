import { coldStartShare, cpuRatio } from '../../assumptions.ts';
import type { Entry } from '../../ledger/entry.ts';
import { median } from '../../quantile.ts';
import type { Charge } from './charge.ts';
import { billedMsOf, type Known } from './invocation-charges.ts';

export const COLD_START = 'cold starts';

/** A function's first invocation in a process, the median of the run. */
export type ColdStart = {
  /** Node's start and the loading of the bundle. */
  readonly initMs: number;
  /** What the first invocation is billed for by itself: it connects, logs in, and runs code that is not compiled yet. */
  readonly firstMs: number;
  /** Secrets that it reads. */
  readonly secretReads: number;
};

/**
 * By function. Lambda gives the init phase about two vCPUs, whatever the memory, so it takes its CPU time and no more
 * (https://bitesizedserverless.com/bite/when-is-the-lambda-init-phase-free-and-when-is-it-billed/; AWS does not document it).
 */
export const coldStartsOf = (all: readonly Entry[], { facts }: Known): ReadonlyMap<string, ColdStart> => {
  const byFunction = Map.groupBy(
    all.filter(({ ordinal, initCpuMs }) => ordinal === 1 && initCpuMs !== undefined),
    (entry) => entry.function,
  );
  return new Map(
    [...byFunction].map(([name, entries]) => [
      name,
      {
        initMs: median(entries.map(({ initCpuMs = 0 }) => initCpuMs)) * cpuRatio,
        firstMs: median(
          entries.map((entry) =>
            billedMsOf(entry, { cpuMs: entry.cpuMs, memoryMB: facts.memoryMB[name] ?? 0 }),
          ),
        ),
        secretReads: median(
          entries.map(({ calls }) => calls.filter(({ service }) => service === 'secretsmanager').length),
        ),
      },
    ]),
  );
};

/** What cold starts add to invocations that were priced as warm ones. */
export const coldStartCharges = (
  warm: readonly Charge[],
  coldStarts: ReadonlyMap<string, ColdStart>,
  { facts }: Known,
): readonly Charge[] =>
  [...coldStarts].flatMap(([name, { initMs, firstMs, secretReads }]): readonly Charge[] => {
    // Polls are priced apart: `reconcile-extraction, first poll`.
    const ofFunction = warm.filter(({ where }) => where.split(',')[0] === name);
    const sum = (price: Charge['price']): number =>
      ofFunction.reduce((total, charge) => total + (charge.price === price ? charge.quantity : 0), 0);
    const invocations = sum('invocation');
    const gigabytes = (facts.memoryMB[name] ?? 0) / 1_024;
    const cold = invocations * gigabytes * ((initMs + firstMs) / 1_000);
    return [
      {
        where: name,
        what: COLD_START,
        price: 'armGigabyteSecond',
        quantity: coldStartShare * Math.max(0, cold - sum('armGigabyteSecond')),
      },
      {
        where: name,
        what: `${COLD_START}: reads of secrets`,
        price: 'secretRead',
        quantity: coldStartShare * invocations * secretReads,
      },
    ].filter(({ quantity }) => quantity > 0) as readonly Charge[];
  });
