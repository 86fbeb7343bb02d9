import { type Extraction, mostUnfinishedReads } from '../record.ts';
import { writeChange } from '../store.ts';
import { beginRead, type Change, endReads } from '../transitions.ts';
import type { ReadTask } from './guard-reads.ts';
import { ReadEndsProcess } from './reading.ts';
import type { ReconcileCaller, ReconcileDeps } from './steps.ts';

type CountDeps = Pick<ReconcileDeps, 'extractions' | 'now' | 'timings' | 'telemetry'>;

/** How often the end of a counted read is tried to be written, each time with the SDK's retries. If all fail, it stays counted. */
const mostTries = 3;

/** Whether the process that began the last counted read may still run. Lambda ends it at its timeout. */
const isUnderWay = ({ unfinishedReads }: Extraction, { now, timings }: CountDeps): boolean =>
  unfinishedReads !== undefined &&
  now().getTime() - new Date(unfinishedReads.lastBegunAt).getTime() <= timings.reconcileTimeout * 1_000;

/** Whether an earlier invocation for the same failed. It may have failed in any way, and without any read. */
const isAfterFailure = (caller: ReconcileCaller): boolean =>
  caller.kind !== 'operator' && caller.afterFailure === true;

const tryToApply = async (change: Change, deps: CountDeps): Promise<boolean> => {
  try {
    await writeChange(deps.extractions, change);
    return true;
  } catch (error) {
    deps.telemetry.failure('A read could not be counted.', error, { extractionId: change.extractionId });
    return false;
  }
};

const end = async (record: Extraction, deps: CountDeps): Promise<void> => {
  for (let tries = 0; tries < mostTries; tries += 1) if (await tryToApply(endReads({ record }), deps)) return;
};

/**
 * The same read, but not made a fourth time after three that ended their process. It then throws ReadEndsProcess.
 *
 * A process that ends cannot report it. So the read is counted before it is made, and the count is removed when it returns
 * or throws. This takes two writes, and is done only after an invocation that failed, or if there is a count already. An
 * operator always reads. A count that cannot be written prevents no read.
 */
export const countReads =
  (read: ReadTask, caller: ReconcileCaller, deps: CountDeps): ReadTask =>
  async (record, taskId, attempt) => {
    const { count = 0 } = record.unfinishedReads ?? {};
    const underWay = isUnderWay(record, deps);
    if (count >= mostUnfinishedReads && !underWay && caller.kind !== 'operator') {
      throw new ReadEndsProcess(`The last ${count} reads of this task ended their process.`);
    }
    const counts = !underWay && (count > 0 || isAfterFailure(caller));
    if (counts) await tryToApply(beginRead({ record, count: count + 1, now: deps.now() }), deps);
    try {
      return await read(record, taskId, attempt);
    } finally {
      if (counts || count > 0) await end(record, deps);
    }
  };
