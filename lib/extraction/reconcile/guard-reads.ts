import type { Attempt, CircuitBreaker } from '../../breaker/circuit-breaker.ts';
import { busyUntil, notBeforeOf, ProviderPaused } from '../../breaker/provider-trouble.ts';
import type { Tokens } from '../../provider/tokens/tokens.ts';
import { breakerAboutOf, type Extraction } from '../record.ts';
import { writeChange } from '../store.ts';
import { postponeCalls } from '../transitions.ts';
import type { Reading } from './reading.ts';
import type { ReconcileDeps } from './steps.ts';

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
