import type { Attempt, CircuitBreaker } from '../../breaker/circuit-breaker.ts';
import { busyUntil, notBeforeOf, ProviderPaused } from '../../breaker/provider-trouble.ts';
import type { Tokens } from '../../provider/tokens/tokens.ts';
import { breakerAboutOf, type Extraction, mostUnfinishedReads } from '../record.ts';
import { writeChange } from '../store.ts';
import { beginRead, type Change, endReads, postponeCalls } from '../transitions.ts';
import { ReadEndsProcess, type Reading } from './reading.ts';
import type { ReconcileCaller, ReconcileDeps } from './steps.ts';

/** Reads the task of a record. Every call to the provider goes through `attempt`. */
export type ReadTask = (record: Extraction, taskId: string, attempt: Attempt) => Promise<Reading>;

export type GuardDeps = Pick<ReconcileDeps, 'extractions' | 'now' | 'telemetry'> & {
  /** Of the calls that read tasks. */
  readonly breaker: CircuitBreaker;
};

/** The same tokens. Each call for one is made as a preparation of the attempt. */
export const tokensFor = <Token>(tokens: Tokens<Token>, { prepare }: Attempt): Tokens<Token> => ({
  current: () => prepare(() => tokens.current()),
  drop: (token) => tokens.drop(token),
});

/** After `Retry-After`. If the record cannot be written, the read is only repeated too early. */
const postpone = async (record: Extraction, notBefore: string, deps: GuardDeps): Promise<void> => {
  try {
    await writeChange(deps.extractions, postponeCalls({ record, notBefore }));
  } catch (error) {
    deps.telemetry.failure('The record could not be postponed.', error, record);
  }
};

/**
 * The same read, but made only if the breaker admits it and the provider did not ask to wait. Otherwise it throws
 * ProviderPaused before it calls anything, and the caller goes on as after a failed read. The last read before a record
 * closes for good is held by an operator's pause alone.
 */
export const guardReads =
  (read: ReadTask, deps: GuardDeps): ReconcileDeps['read'] =>
  async (record, taskId, { isLast }) => {
    const { breaker, now } = deps;
    if (!isLast && record.notBefore !== undefined && now().toISOString() < record.notBefore) {
      throw new ProviderPaused('The provider asked for no read before a time that is still ahead.');
    }
    const postponing =
      (until: (error: unknown, now: Date) => string | undefined) =>
      async <T>(call: () => Promise<T>): Promise<T> => {
        try {
          return await call();
        } catch (error) {
          const notBefore = until(error, now());
          if (notBefore !== undefined) await postpone(record, notBefore, deps);
          throw error;
        }
      };
    const run = await breaker.run(
      breakerAboutOf(record),
      ({ kind, prepare, make }) =>
        read(record, taskId, {
          kind,
          prepare: (call) => postponing(busyUntil)(() => prepare(call)),
          make: (call) => postponing(notBeforeOf)(() => make(call)),
        }),
      { isLast },
    );
    if (run.kind === 'held') throw new ProviderPaused('Reads are held: the breaker is open or paused.');
    return run.value;
  };

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
