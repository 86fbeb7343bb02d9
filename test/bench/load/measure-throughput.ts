import { median } from '../quantile.ts';
import type { Records } from './follow-records.ts';
import type { MeasuredSystem } from './measured-system.ts';
import { runBatch } from './run-batch.ts';
import { cpuMsOf } from './usage.ts';

export type Throughput = {
  readonly extractions: number;
  readonly most: number;
  readonly perSecond: number;
  /** From the request until the record is closed; the provider's half second is in it. */
  readonly medianSeconds: number;
  /** Of our functions, per extraction, in milliseconds. */
  readonly cpuMs: number;
};

/** More at once are no faster on 2 cores: the emulator starts a process for each invocation that finds none free. */
const most = 16;
const order = { most, durationMs: 500, held: 0 };

/** Extractions per second through everything: signed HTTP, both tables, the machine, provider, webhook, results. */
export const measureThroughput = async (system: MeasuredSystem, records: Records): Promise<Throughput> => {
  // Until the emulator has started as many processes of each function as it takes.
  await runBatch(system, records, { ...order, size: 2 * most });
  const batch = await runBatch(system, records, { ...order, size: 120 });
  return {
    extractions: batch.size,
    most,
    perSecond: batch.size / batch.seconds,
    medianSeconds: median(batch.secondsEach),
    cpuMs: cpuMsOf(batch.entries),
  };
};
