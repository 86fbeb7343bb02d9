import type { PausableCalls } from '../../breaker/pauses.ts';
import { busyUntil, notBeforeOf } from '../../breaker/provider-trouble.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import type { ExtractionAnswer } from '../../provider/extractions/read-extraction.ts';
import type { TaskReading } from '../../provider/tasks/read-task.ts';
import { type TaskTokens, tokensOf } from '../../provider/tokens/task-tokens.ts';
import { type Tokens, withSession } from '../../provider/tokens/with-session.ts';
import { ProviderError } from '../../provider/transport/errors.ts';
import { isWhy, type Plan, type Seen } from '../plan.ts';
import { writeChange } from '../progress.ts';
import { loginProblemOf, problemOf } from '../provider-codes.ts';
import type { ConsentVariant, Extraction } from '../record.ts';
import { findRequest } from '../request-data.ts';
import type { SealedTargetData } from '../sealed-request-data.ts';
import type { ExtractionStore, RequestStore, StoredRequest } from '../store.ts';
import { beginRead, type Change, endReads, postponeCalls, readSlowly } from '../transitions.ts';
import { type Read, readingOfExtraction, readTaskWith } from './reading.ts';

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

/** The read of one task, ready to be made. It contains everything in which the two methods differ. */
export type ReadCall = { readonly tokens: Tokens; readonly get: (token: string) => Promise<Read> };

type ReadSources = {
  readonly requests: Pick<RequestStore, 'get'>;
  readonly unsealTarget: (stored: StoredRequest) => Promise<SealedTargetData>;
  /** `isBrief`: each call ends after `briefCallMs`. */
  readonly providerFor: (isBrief: boolean) => ReadableProvider;
};

/** Prepares the read of a record's task. Undefined if it needs the item of the request, and that is not there. */
export const readCallFrom =
  ({ requests, unsealTarget, providerFor }: ReadSources) =>
  async (record: Extraction, taskId: string, isBrief: boolean): Promise<ReadCall | undefined> => {
    const provider = providerFor(isBrief);
    if (record.method !== 'consent') {
      const get = (token: string) => readTaskWith(() => provider.readTask(token, taskId));
      return { tokens: provider.sessions, get };
    }
    const stored = await findRequest(record, { requests });
    if (stored === undefined) return undefined;
    const { target } = await unsealTarget(stored);
    return {
      tokens: tokensOf(provider.taskTokens, target),
      get: async (token) => readingOfExtraction(await provider.readExtraction(token, taskId, record.variant)),
    };
  };

export type ReadDeps = {
  readonly extractions: Pick<ExtractionStore, 'apply'>;
  readonly readCallFor: ReturnType<typeof readCallFrom>;
  /** Whether an operator paused such calls. */
  readonly isPaused: (calls: PausableCalls) => Promise<boolean>;
  readonly now: () => Date;
  readonly telemetry: Telemetry;
};

/** Writes what is only kept about reads. A failure prevents no read. Returns whether it was written. */
const tryToApply = async (change: Change, { extractions, telemetry }: ReadDeps): Promise<boolean> => {
  try {
    await writeChange(extractions, change);
    return true;
  } catch (error) {
    const { extractionId } = change;
    telemetry.failure('What is kept about reads could not be written.', error, { extractionId });
    return false;
  }
};

/** How often the end of a counted read is tried to be written, each time with the SDK's retries. If all fail, it stays counted. */
const maxEndTries = 3;

const endCount = async (record: Extraction, deps: ReadDeps): Promise<void> => {
  for (let tries = 0; tries < maxEndTries; tries += 1)
    if (await tryToApply(endReads({ record }), deps)) return;
};

/**
 * Makes one read, unless an operator paused reads. It is counted while it is made, if the plan has a count. If the provider asks
 * to wait, the record keeps until when; if a brief read fails, that the next one is slow. `bytes`: the body of the answer.
 */
export const readTask = async (
  record: Extraction,
  { taskId, isLast, isBarred, count }: Extract<Plan, { kind: 'read' }>,
  isBrief: boolean,
  deps: ReadDeps,
): Promise<{ readonly seen: Seen; readonly bytes: Uint8Array | undefined }> => {
  const { now, telemetry } = deps;
  const unread = (why: Extract<Seen, { kind: 'unread' }>['why'], problem?: string) =>
    ({ seen: { kind: 'unread', why, problem, isLast }, bytes: undefined }) as const;
  if (await deps.isPaused('reads')) {
    telemetry.count('ReadsHeld');
    return unread('ProviderPaused');
  }
  if (isBarred) return unread('read-ends-process');
  if (count > 0) await tryToApply(beginRead({ record, count, now: now() }), deps);
  let ofTask: unknown;
  try {
    const call = await deps.readCallFor(record, taskId, isBrief);
    if (call === undefined) return unread('request-data-gone');
    const { reading, bytes } = await withSession(call.tokens, async (token) => {
      try {
        return await call.get(token);
      } catch (error) {
        ofTask = error;
        throw error;
      }
    });
    return { seen: { kind: 'read', taskId, reading, isLast }, bytes };
  } catch (error) {
    telemetry.failure('The task could not be read.', error, record);
    const [notBefore, lastProblem] =
      error === ofTask
        ? [notBeforeOf(error, now()), problemOf(error)]
        : [busyUntil(error, now()), loginProblemOf(error)];
    if (notBefore !== undefined) await tryToApply(postponeCalls({ record, notBefore, lastProblem }), deps);
    if (isBrief) await tryToApply(readSlowly({ record }), deps);
    if (!(error instanceof ProviderError)) return unread('InternalError', lastProblem);
    return unread(isWhy(error.name) ? error.name : 'ProviderError', lastProblem);
  } finally {
    if (count > 0 || record.unfinishedReads !== undefined) await endCount(record, deps);
  }
};
