import { type Parts, parseLargeJson } from '../../http/parse-large-json.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { finishedStatus, firstErrorCode, inProgressStatuses } from '../../provider/assumptions.ts';
import type { ExtractionAnswer } from '../../provider/extractions/read-extraction.ts';
import { parseActionResults, type TaskReading } from '../../provider/tasks/read-task.ts';
import { type Tokens, withSession } from '../../provider/tokens/session-tokens.ts';
import { type TaskTokens, tokensOf } from '../../provider/tokens/task-tokens.ts';
import { ProviderAnswerTooLarge, ProviderError } from '../../provider/transport/errors.ts';
import type { PausableCalls } from '../../shared-item/operator-settings.ts';
import { type Explanation, isErrorName } from '../causes.ts';
import type { Change } from '../change.ts';
import {
  failureReason,
  loginProblemOf,
  looksLikeCode,
  notBeforeAfter429,
  notBeforeAfter429Or503,
  problemOf,
} from '../codes.ts';
import type { Learned, Plan, Reading, Unread } from '../plan.ts';
import {
  type ActionResult,
  type ConsentVariant,
  type Extraction,
  isTerminalStatus,
  type RequestedAction,
} from '../record.ts';
import { findRequest } from '../request-data.ts';
import type { SealedTargetData } from '../sealed-request-data.ts';
import type { ExtractionStore, RequestStore, StoredRequest } from '../store.ts';
import { beginLastRead, postponeCalls, readSlowly } from '../transitions.ts';
import { writeChange } from '../write-progress.ts';

/** The provider's calls that reads use. Each of the last two makes one call. */
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

/**
 * In milliseconds: the timeout of each call of a brief read, and of a brief store with its retries. Most take less than a second, and
 * 20 MiB in 5 s are 4 MiB a second.
 */
export const briefCallMs = 5_000;

/** A prepared read of one task. It contains every difference between the two methods. */
type ReadCall = { readonly tokens: Tokens; readonly get: (token: string) => Promise<Read> };

type ReadSources = {
  readonly requests: Pick<RequestStore, 'get'>;
  readonly unsealTarget: (record: Extraction, stored: StoredRequest) => Promise<SealedTargetData>;
  /** `isBrief`: each call ends after `briefCallMs`. */
  readonly providerFor: (isBrief: boolean) => ReadableProvider;
};

/** Prepares the read of a record's task. Undefined if the item of the request is needed and missing. */
export const readCallFrom =
  ({ requests, unsealTarget, providerFor }: ReadSources) =>
  async (record: Extraction, taskId: string, isBrief: boolean): Promise<ReadCall | undefined> => {
    const provider = providerFor(isBrief);
    if (record.method !== 'consent') {
      const get = (token: string) => readV2Task(() => provider.readTask(token, taskId), record.actions);
      return { tokens: provider.sessions, get };
    }
    const stored = await findRequest(record, { requests });
    if (stored === undefined) return undefined;
    const { target } = await unsealTarget(record, stored);
    return {
      tokens: tokensOf(provider.taskTokens, target),
      get: async (token) => readingOfExtraction(await provider.readExtraction(token, taskId, record.variant)),
    };
  };

export type ReadDeps = {
  readonly extractions: Pick<ExtractionStore, 'apply'>;
  readonly readCallFor: ReturnType<typeof readCallFrom>;
  /** Whether an operator paused such calls. Throws nothing: if it cannot be read, they are not paused. */
  readonly isPaused: (calls: PausableCalls) => Promise<boolean>;
  readonly now: () => Date;
  readonly telemetry: Telemetry;
};

/**
 * Writes to the record what was learned about reads. Returns the new record. If the write fails, returns the old one, because a failure
 * must not prevent a read.
 */
const tryToKeep = async (
  change: Change,
  record: Extraction,
  { extractions, telemetry }: ReadDeps,
): Promise<Extraction> => {
  try {
    const { record: kept } = await writeChange(extractions, change);
    // After an erasure, another record may have this id.
    return kept?.requestId === record.requestId ? kept : record;
  } catch (error) {
    telemetry.failure('What is kept about reads could not be written.', error, record);
    return record;
  }
};

/** After a failed brief read or store, the record stores that the slow queue continues. If this write fails, nothing else does. */
export const leaveToSlowQueue = (record: Extraction, deps: ReadDeps): Promise<Extraction> =>
  tryToKeep(readSlowly({ record }), record, deps);

/**
 * Makes one read, unless an operator has paused reads. The record stores when a last read began, until when the provider asked to wait, and
 * that a brief read failed, so that the next one is slow. `bytes` is the body of the answer.
 */
export const readOnce = async (
  known: Extraction,
  planned: Extract<Plan, { kind: 'read' | 'last-read' | 'no-read' }>,
  isBrief: boolean,
  deps: ReadDeps,
): Promise<Learned & { readonly bytes: Uint8Array | undefined }> => {
  const { now, telemetry } = deps;
  let record = known;
  const nothing = (unread: Unread) =>
    ({ observed: { kind: 'unread', ...unread }, record, bytes: undefined }) as const;
  const impossible = (code: Explanation) =>
    nothing({ unread: 'impossible', problem: code, explanation: code });
  if (await deps.isPaused('reads')) {
    telemetry.count('ReadsHeld');
    return nothing({ unread: 'not-now', explanation: 'reads-paused' });
  }
  if (planned.kind === 'no-read') {
    telemetry.failure(
      'The process of the last read ended, so that the task is not read again.',
      undefined,
      record,
    );
    return impossible('InternalError');
  }
  const { taskId } = planned;
  if (planned.kind === 'last-read')
    record = await tryToKeep(beginLastRead({ record, now: now() }), record, deps);
  let ofTask: unknown;
  try {
    const call = await deps.readCallFor(known, taskId, isBrief);
    if (call === undefined) return impossible('request-data-gone');
    const { reading, bytes } = await withSession(call.tokens, async (token) => {
      try {
        return await call.get(token);
      } catch (error) {
        ofTask = error;
        throw error;
      }
    });
    return { observed: { kind: 'read', taskId, reading }, record, bytes };
  } catch (error) {
    telemetry.failure('The task could not be read.', error, record);
    const { name = '' } = error as Error;
    const [notBefore, problem] =
      error === ofTask
        ? [notBeforeAfter429Or503(error, now()), problemOf(error)]
        : [notBeforeAfter429(error, now()), loginProblemOf(error)];
    if (notBefore !== undefined)
      record = await tryToKeep(postponeCalls({ record, notBefore, lastProblem: problem }), record, deps);
    if (isBrief) record = await leaveToSlowQueue(record, deps);
    const ofProvider = isErrorName(name) ? name : 'ProviderError';
    const explanation = error instanceof ProviderError ? ofProvider : 'InternalError';
    return nothing({ unread: 'failed', problem, explanation });
  }
};

/** A reading, and the answer's body as received. The body is stored if there are results, and decides nothing. */
export type Read = { readonly reading: Reading; readonly bytes: Uint8Array | undefined };

const without = (reading: Reading): Read => ({ reading, bytes: undefined });

const anyValue: Parts = {};

/** What the readings of both methods are made from. */
const partsOfReading: Parts = {
  fields: {
    taskStatus: anyValue,
    taskStatusCode: { isNumber: true },
    results: {
      showsFields: true,
      fields: {
        actions: {
          items: { fields: { id: anyValue, status: anyValue, error: { fields: { code: anyValue } } } },
        },
      },
    },
    data: { showsFields: true },
  },
};

/**
 * Parses the answer of a read for `readV2Task` and `readingOfExtraction`. JSON.parse takes up to a hundred times the memory of the bytes
 * (`npm run bench:memory`), and would end the process. Throws what `parseLargeJson` throws.
 */
export const parseRead = (bytes: Uint8Array): unknown => parseLargeJson(bytes, partsOfReading);

const codeOrUnknown = (text: string): string => (looksLikeCode(text) ? text : 'unknown');

/** The result of an action without free text. A text that is not a code becomes `unknown`. */
const codesOnly = ({ id, status, errorCode }: ActionResult): ActionResult => ({
  id: codeOrUnknown(id),
  status: codeOrUnknown(status),
  ...(errorCode === undefined ? {} : { errorCode: codeOrUnknown(errorCode) }),
});

/** Whether each requested action has its own result. The same action may be requested twice. */
const hasEach = (requested: readonly RequestedAction[], results: readonly ActionResult[]): boolean => {
  const left = results.map(({ id }) => id);
  return requested.every(({ id }) => {
    const index = left.indexOf(id);
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
};

/** The reading of a v2 task. Its `taskStatus` alone decides whether it has ended. */
export const readingOfTask = (
  { taskStatus, results, bytes }: TaskReading,
  requested: readonly RequestedAction[],
): Read => {
  if (!isTerminalStatus(taskStatus)) {
    return without({ kind: 'running', known: taskStatus === 'PENDING' || taskStatus === 'RUNNING' });
  }
  const parsed = parseActionResults(taskStatus, results);
  const actions = parsed.kind === 'actions' ? parsed.actions : [];
  const reading = {
    kind: 'ended',
    taskStatus,
    reason: undefined,
    expected:
      parsed.kind !== 'unexpected' && actions.flatMap((one) => Object.values(one)).every(looksLikeCode),
    results: parsed.kind === 'none' ? 'none' : hasEach(requested, actions) ? 'all' : 'part',
    actionResults: parsed.kind === 'actions' ? actions.map(codesOnly) : undefined,
  } as const;
  return { reading, bytes };
};

/**
 * Reads a v2 task. An answer over the size limit is a reading too, without a status. Throws every other error of
 * `read`.
 */
export const readV2Task = async (
  read: () => Promise<TaskReading>,
  requested: readonly RequestedAction[],
): Promise<Read> => {
  try {
    return readingOfTask(await read(), requested);
  } catch (error) {
    if (error instanceof ProviderAnswerTooLarge) {
      return without({ kind: 'too-large', taskStatus: undefined });
    }
    throw error;
  }
};

/** Whether there are any data. By the document, an empty array means that the bank has none. */
const isAnything = (data: unknown): boolean =>
  data != null && (typeof data !== 'object' || Array.isArray(data) || Object.keys(data).length > 0);

/**
 * The reading of an extraction by consent. In v1 it ends with the status `success`, or with another status and an error code. v2 has no
 * status, so its 200 means that it has ended. Data of an unexpected form do not change that.
 */
export const readingOfExtraction = (answer: ExtractionAnswer): Read => {
  if (answer.kind === 'in-progress') return without({ kind: 'running', known: true });
  if (answer.kind === 'too-large') return without({ kind: 'too-large', taskStatus: 'COMPLETED' });
  const ended = { kind: 'ended', reason: undefined, actionResults: undefined } as const;
  const failedWith = (reason: string): Read =>
    without({ ...ended, taskStatus: 'FAILED', reason, results: 'none', expected: true });
  if (answer.kind === 'failed') return failedWith(failureReason(answer));
  const { taskStatus, taskStatusCode = 0, data, bytes } = answer;
  if (taskStatus !== undefined && taskStatus !== finishedStatus) {
    const known = inProgressStatuses.includes(taskStatus);
    if (known || taskStatusCode < firstErrorCode) return without({ kind: 'running', known });
    return failedWith(failureReason({ errorType: taskStatus }));
  }
  const results = isAnything(data) ? 'all' : 'part';
  return { reading: { ...ended, taskStatus: 'COMPLETED', results, expected: Array.isArray(data) }, bytes };
};
