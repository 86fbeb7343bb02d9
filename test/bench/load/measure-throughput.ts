import { median } from '../quantile.ts';
import type { Records } from './follow-records.ts';
import { runBatch } from './run-batch.ts';
import type { MeasuredSystem } from './start-measured-system.ts';
import { cpuMsOf } from './usage-per-extraction.ts';

export type Throughput = {
  readonly extractions: number;
  readonly most: number;
  readonly perSecond: number;
  /** From the request until the record is closed, with the provider's half second. */
  readonly medianSeconds: number;
  /** CPU time of the functions per extraction, in milliseconds. */
  readonly cpuMs: number;
};

/** More at once are not faster on 2 cores: the emulator starts a process for each concurrent invocation. */
const most = 16;
const order = { most, durationMs: 500, held: 0 };

/** Measures extractions per second through the whole system: signed HTTP, tables, machine, provider, webhook, results. */
export const measureThroughput = async (system: MeasuredSystem, records: Records): Promise<Throughput> => {
  // Warm-up: the emulator starts the processes of each function.
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
