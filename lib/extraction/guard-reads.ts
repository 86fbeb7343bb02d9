import type { CircuitBreaker } from '../breaker/circuit-breaker.ts';
import { busyUntil, ProviderPaused, type Verdict, verdictOf } from '../breaker/provider-trouble.ts';
import { applyChange } from './apply-change.ts';
import type { ReconcileDeps } from './reconcile.ts';
import type { Extraction } from './record.ts';
import { postponeCalls } from './transitions.ts';

type Read = ReconcileDeps['read'];

export type GuardDeps = Pick<ReconcileDeps, 'extractions' | 'now' | 'journal'> & {
  /** Of the calls that read tasks. */
  readonly breaker: CircuitBreaker;
};

/** After a 429 with `Retry-After`. If the record cannot be written, the read is only repeated too early. */
const postpone = async (record: Extraction, notBefore: string, deps: GuardDeps): Promise<void> => {
  try {
    await applyChange(deps.extractions, postponeCalls(record, notBefore));
  } catch (error) {
    deps.journal.failure('The record could not be postponed.', error, record);
  }
};

/**
 * The same read, but made only if the breaker admits it and the provider did not ask to wait. Otherwise it throws
 * ProviderPaused before it calls anything, and the caller goes on as after a failed read.
 */
export const guardReads =
  (read: Read, deps: GuardDeps): Read =>
  async (record, taskId) => {
    const { breaker, now } = deps;
    if (record.notBefore !== undefined && now().toISOString() < record.notBefore) {
      throw new ProviderPaused('The provider asked for no read before a time that is still ahead.');
    }
    const admission = await breaker.admit();
    if (admission.kind === 'stop') throw new ProviderPaused('Reads are held: the breaker is open or paused.');
    let verdict: Verdict = { kind: 'nothing' };
    try {
      const reading = await read(record, taskId);
      verdict = { kind: 'success' };
      return reading;
    } catch (error) {
      verdict = verdictOf(error, now());
      const notBefore = busyUntil(error, now());
      if (notBefore !== undefined) await postpone(record, notBefore, deps);
      throw error;
    } finally {
      await breaker.report(admission, verdict);
    }
  };
