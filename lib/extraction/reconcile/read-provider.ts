import type { PausableCalls } from '../../breaker/pauses.ts';
import { busyUntil, notBeforeOf, ProviderPaused } from '../../breaker/provider-trouble.ts';
import type { ExtractionAnswer } from '../../provider/extractions/read-extraction.ts';
import type { TaskReading } from '../../provider/tasks/read-task.ts';
import { type TaskTokens, tokensOf } from '../../provider/tokens/task-tokens.ts';
import { type Tokens, withSession } from '../../provider/tokens/tokens.ts';
import { ProviderError } from '../../provider/transport/errors.ts';
import { type ConsentVariant, type Extraction, mostUnfinishedReads } from '../record.ts';
import { findRequest, RequestDataGone, requestDataGone } from '../request-data.ts';
import type { SealedTargetData } from '../sealed-request-data.ts';
import { type RequestStore, type StoredRequest, writeChange } from '../store.ts';
import { beginRead, type Change, endReads, postponeCalls, readSlowly } from '../transitions.ts';
import { type Reading, readingOfExtraction, readTaskWith } from './reading.ts';
import { type ReconcileCaller, type ReconcileDeps, readsBriefly } from './steps.ts';

/** Makes a call, and records whether the provider asked to wait. `forToken`: of a call for a token. `forTask`: of the read itself. */
type Calls = {
  readonly forToken: <T>(call: () => Promise<T>) => Promise<T>;
  readonly forTask: <T>(call: () => Promise<T>) => Promise<T>;
};

/** Reads the task of a record. */
type ReadTask = (record: Extraction, taskId: string, calls: Calls) => Promise<Reading>;

/** The same tokens, each obtained by `forToken`. */
export const tokensFor = <Token>(
  tokens: Tokens<Token>,
  { forToken }: Pick<Calls, 'forToken'>,
): Tokens<Token> => ({
  current: () => forToken(() => tokens.current()),
  drop: (token) => tokens.drop(token),
});

/** What reads use of the provider. The last two make one call each. */
export type ReadableProvider = {
  readonly sessions: Tokens;
  readonly taskTokens: TaskTokens;
  readonly readTask: (sessionToken: string, taskId: string) => Promise<TaskReading>;
  readonly readExtraction: (
    taskToken: string,
    taskId: string,
    variant: ConsentVariant,
  ) => Promise<ExtractionAnswer>;
};

/** In milliseconds: the timeout of each call of a brief read. Most answers take less than a second. */
export const briefCallMs = 5_000;

type ReadSources = {
  readonly requests: Pick<RequestStore, 'get'>;
  readonly unsealTarget: (stored: StoredRequest) => Promise<SealedTargetData>;
  /** `isBrief`: each call ends after `briefCallMs`. */
  readonly providerFor: (isBrief: boolean) => ReadableProvider;
};

/** The read of a record, in the way of its method. */
const readByMethod =
  ({ requests, unsealTarget }: ReadSources, provider: ReadableProvider): ReadTask =>
  async (record, taskId, calls) => {
    if (record.method !== 'consent') {
      return withSession(tokensFor(provider.sessions, calls), (token) =>
        calls.forTask(() => readTaskWith(() => provider.readTask(token, taskId))),
      );
    }
    const stored = await findRequest(record, { requests });
    if (stored === undefined) throw new RequestDataGone();
    const { target } = await unsealTarget(stored);
    return readingOfExtraction(
      await withSession(tokensFor(tokensOf(provider.taskTokens, target), calls), (token) =>
        calls.forTask(() => provider.readExtraction(token, taskId, record.variant)),
      ),
    );
  };

type GuardDeps = Pick<ReconcileDeps, 'extractions' | 'now' | 'telemetry'> & {
  /** Whether an operator paused such calls. */
  readonly isPaused: (calls: PausableCalls) => Promise<boolean>;
};

/** Writes what is only kept about reads. A failure prevents no read. */
const tryToApply = async (
  change: Change,
  deps: Pick<CountDeps, 'extractions' | 'telemetry'>,
): Promise<boolean> => {
  try {
    await writeChange(deps.extractions, change);
    return true;
  } catch (error) {
    deps.telemetry.failure('What is kept about reads could not be written.', error, {
      extractionId: change.extractionId,
    });
    return false;
  }
};

/**
 * The same read, but made only if no operator paused reads and the provider did not ask to wait. Otherwise it throws
 * ProviderPaused before it calls anything. The last read before a record closes for good is held by an operator's pause alone.
 */
export const guardReads =
  (read: ReadTask, deps: GuardDeps): ReconcileDeps['read'] =>
  async (record, taskId, { isLast }) => {
    const { now } = deps;
    if (!isLast && record.notBefore !== undefined && now().toISOString() < record.notBefore) {
      throw new ProviderPaused('The provider asked for no read before a time that is still ahead.');
    }
    if (await deps.isPaused('reads')) {
      deps.telemetry.count('ReadsHeld');
      throw new ProviderPaused('An operator paused reads.');
    }
    const postponing =
      (until: (error: unknown, now: Date) => string | undefined) =>
      async <T>(call: () => Promise<T>): Promise<T> => {
        try {
          return await call();
        } catch (error) {
          const notBefore = until(error, now());
          if (notBefore !== undefined) await tryToApply(postponeCalls({ record, notBefore }), deps);
          throw error;
        }
      };
    return read(record, taskId, { forToken: postponing(busyUntil), forTask: postponing(notBeforeOf) });
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
  async (record, taskId, calls) => {
    const { count = 0 } = record.unfinishedReads ?? {};
    const underWay = isUnderWay(record, deps);
    if (count >= mostUnfinishedReads && !underWay && caller.kind !== 'operator') {
      throw new ReadEndsProcess(`The last ${count} reads of this task ended their process.`);
    }
    const counts = !underWay && (count > 0 || isAfterFailure(caller));
    if (counts) await tryToApply(beginRead({ record, count: count + 1, now: deps.now() }), deps);
    try {
      return await read(record, taskId, calls);
    } finally {
      if (counts || count > 0) await end(record, deps);
    }
  };

/** The reads of one invocation: each is counted if it may end the process, and held while an operator paused reads. */
export const readsFor = (
  caller: ReconcileCaller,
  deps: ReadSources & GuardDeps & Pick<ReconcileDeps, 'timings'>,
): ReconcileDeps['read'] =>
  guardReads(countReads(readByMethod(deps, deps.providerFor(readsBriefly(caller))), caller, deps), deps);

/** Why a read brought nothing. */
export type Unanswered = {
  readonly why: string;
  /** Whether the provider answered the read that was made. */
  readonly isAnswered?: boolean;
  /** No read was made. */
  readonly isHeld?: true;
  /** None will be made, so that the record is closed at its time for this reason. */
  readonly isUnreadable?: true;
};

type ReadResult =
  | { readonly kind: 'read'; readonly reading: Reading }
  | ({ readonly kind: 'no-answer' } & Unanswered)
  /** The slow queue makes the read. */
  | { readonly kind: 'moved'; readonly record: Extraction }
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
 * secret. It must not keep a record open beyond its deadline. A brief read that fails is made again by the slow queue, which
 * gives it the whole timeout, so only that one's failure counts.
 */
export const readProvider = async (
  record: Extraction,
  taskId: string,
  { isLast, caller }: { readonly isLast: boolean; readonly caller: ReconcileCaller },
  deps: ReconcileDeps,
): Promise<ReadResult> => {
  const isBrief = readsBriefly(caller);
  if (isBrief && record.readsSlowly === true) return { kind: 'moved', record };
  try {
    return { kind: 'read', reading: await deps.read(record, taskId, { isLast }) };
  } catch (error) {
    // No read was made, so none has failed.
    if (error instanceof ProviderPaused) return { kind: 'no-answer', why: error.name, isHeld: true };
    if (error instanceof ReadEndsProcess) {
      deps.telemetry.count('ReadEndsProcess', record);
      return { kind: 'no-answer', why: 'read-ends-process', isUnreadable: true };
    }
    if (error instanceof RequestDataGone) return readWithoutRequest(record, deps);
    deps.telemetry.failure('The task could not be read.', error, record);
    if (isBrief) {
      await tryToApply(readSlowly({ record }), deps);
      return { kind: 'moved', record };
    }
    deps.telemetry.count('ProviderReadFailed', record);
    return {
      kind: 'no-answer',
      why: error instanceof ProviderError ? error.name : 'InternalError',
      isAnswered: false,
    };
  }
};
