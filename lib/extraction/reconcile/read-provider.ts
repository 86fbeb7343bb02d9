import type { Attempt, CircuitBreaker } from '../../breaker/circuit-breaker.ts';
import { busyUntil, notBeforeOf, ProviderPaused } from '../../breaker/provider-trouble.ts';
import type { ExtractionAnswer } from '../../provider/extractions/read-extraction.ts';
import type { TaskReading } from '../../provider/tasks/read-task.ts';
import { type TaskTokens, tokensOf } from '../../provider/tokens/task-tokens.ts';
import { type Tokens, withSession } from '../../provider/tokens/tokens.ts';
import { ProviderError } from '../../provider/transport/errors.ts';
import { breakerAboutOf, type ConsentVariant, type Extraction, mostUnfinishedReads } from '../record.ts';
import { findRequest, RequestDataGone, requestDataGone } from '../request-data.ts';
import type { SealedTargetData } from '../sealed-request-data.ts';
import { type RequestStore, type StoredRequest, writeChange } from '../store.ts';
import { beginRead, type Change, endReads, postponeCalls } from '../transitions.ts';
import { type Reading, readingOfExtraction, readTaskWith } from './reading.ts';
import type { ReconcileCaller, ReconcileDeps } from './steps.ts';

/** Reads the task of a record. Every call to the provider goes through `attempt`. */
type ReadTask = (record: Extraction, taskId: string, attempt: Attempt) => Promise<Reading>;

/** The same tokens. Each call for one is made as a preparation of the attempt. */
export const tokensFor = <Token>(tokens: Tokens<Token>, { prepare }: Attempt): Tokens<Token> => ({
  current: () => prepare(() => tokens.current()),
  drop: (token) => tokens.drop(token),
});

/** What the reads of both methods are made of. The last two make one call each. */
type ReadSources = {
  readonly requests: Pick<RequestStore, 'get'>;
  readonly unsealTarget: (stored: StoredRequest) => Promise<SealedTargetData>;
  readonly sessions: Tokens;
  readonly taskTokens: TaskTokens;
  readonly readTask: (sessionToken: string, taskId: string, call: CallOptions) => Promise<TaskReading>;
  readonly readExtraction: (
    taskToken: string,
    taskId: string,
    call: CallOptions & { readonly variant: ConsentVariant },
  ) => Promise<ExtractionAnswer>;
};

/** `isLast`: the record closes for good after this read, and the breaker is open. */
type CallOptions = { readonly isLast: boolean };

/** The read of a record, in the way of its method. */
const readByMethod =
  (sources: ReadSources): ReadTask =>
  async (record, taskId, attempt) => {
    const call = { isLast: attempt.kind === 'last' };
    if (record.method !== 'consent') {
      return withSession(tokensFor(sources.sessions, attempt), (token) =>
        attempt.make(() => readTaskWith(() => sources.readTask(token, taskId, call))),
      );
    }
    const { variant } = record;
    const stored = await findRequest(record, sources);
    if (stored === undefined) throw new RequestDataGone();
    const { target } = await sources.unsealTarget(stored);
    return readingOfExtraction(
      await withSession(tokensFor(tokensOf(sources.taskTokens, target), attempt), (token) =>
        attempt.make(() => sources.readExtraction(token, taskId, { ...call, variant })),
      ),
    );
  };

type GuardDeps = Pick<ReconcileDeps, 'extractions' | 'now' | 'telemetry'> & {
  /** Of the calls that read tasks. */
  readonly breaker: CircuitBreaker;
};

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

/** Each of the last reads of this task ended its process, for example because it ran out of memory. None was made. */
export class ReadEndsProcess extends Error {
  override readonly name = 'ReadEndsProcess';
}

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

/** The reads of one invocation: each is counted if it may end the process, and held while the breaker is open. */
export const readsFor = (
  caller: ReconcileCaller,
  deps: ReadSources & GuardDeps & Pick<ReconcileDeps, 'timings'>,
): ReconcileDeps['read'] => guardReads(countReads(readByMethod(deps), caller, deps), deps);

/** Why a read brought nothing. */
export type Unanswered = {
  readonly why: string;
  /** No read was made. */
  readonly isHeld?: true;
  /** None will be made, so that the record is closed at its time for this reason. */
  readonly isUnreadable?: true;
};

type ReadResult =
  | { readonly kind: 'read'; readonly reading: Reading }
  | ({ readonly kind: 'no-answer' } & Unanswered)
  /** Another process has changed the record meanwhile. */
  | { readonly kind: 'changed'; readonly record: Extraction | undefined };

const isUnchanged = (before: Extraction, after: Extraction): boolean =>
  after.requestId === before.requestId &&
  after.attemptId === before.attemptId &&
  after.status === before.status &&
  after.dueShard === before.dueShard;

/**
 * The item of the request is not there. The process that closes a record of a consent removes it, so the record is read again.
 * If the record is unchanged, the item is lost. The task is then not read any more, and the record is closed at its time.
 */
const readWithoutRequest = async (record: Extraction, deps: ReconcileDeps): Promise<ReadResult> => {
  const current = await deps.extractions.get(record.extractionId);
  if (current === undefined || !isUnchanged(record, current)) return { kind: 'changed', record: current };
  deps.telemetry.count('RequestDataGone', record);
  return { kind: 'no-answer', why: requestDataGone, isUnreadable: true };
};

/**
 * Reads the provider. Every failure counts as a poll without an answer, even one on our side such as an unreadable
 * secret. It must not keep a record open beyond its deadline.
 */
export const readProvider = async (
  record: Extraction,
  taskId: string,
  isLast: boolean,
  deps: ReconcileDeps,
): Promise<ReadResult> => {
  try {
    return { kind: 'read', reading: await deps.read(record, taskId, { isLast }) };
  } catch (error) {
    // The breaker has counted it. No read was made, so none has failed.
    if (error instanceof ProviderPaused) return { kind: 'no-answer', why: error.name, isHeld: true };
    if (error instanceof ReadEndsProcess) {
      deps.telemetry.count('ReadEndsProcess', record);
      return { kind: 'no-answer', why: 'read-ends-process', isUnreadable: true };
    }
    if (error instanceof RequestDataGone) return readWithoutRequest(record, deps);
    deps.telemetry.count('ProviderReadFailed', record);
    deps.telemetry.failure('The task could not be read.', error, record);
    return { kind: 'no-answer', why: error instanceof ProviderError ? error.name : 'InternalError' };
  }
};
