import { type Parts, parseLargeJson } from '../../http/parse-large-json.ts';
import { finishedStatus, firstErrorCode, inProgressStatuses } from '../../provider/assumptions.ts';
import type { ExtractionAnswer } from '../../provider/extractions/read-extraction.ts';
import { parseActionResults } from '../../provider/tasks/parse-action-results.ts';
import type { TaskReading } from '../../provider/tasks/read-task.ts';
import { ProviderAnswerTooLarge } from '../../provider/transport/errors.ts';
import { failureReason, looksLikeCode } from '../provider-codes.ts';
import { type ActionResult, isTerminalStatus, type TerminalStatus } from '../record.ts';

/** What one read of the provider returned about a task, in the same form for both methods. */
export type Reading =
  /** `known` is false if the provider named a status that its API document does not list. */
  | { readonly kind: 'running'; readonly known: boolean }
  /**
   * The answer was over the size limit and was discarded. Only an ended task has results, so the task has ended.
   * `taskStatus`: if the HTTP status alone implies it.
   */
  | { readonly kind: 'too-large'; readonly taskStatus: TerminalStatus | undefined }
  | {
      readonly kind: 'ended';
      readonly taskStatus: TerminalStatus;
      /** The provider's error code, if the status does not imply the reason. */
      readonly reason: string | undefined;
      readonly hasResults: boolean;
      readonly actionResults: readonly ActionResult[] | undefined;
      /** Whether the results have the documented form. */
      readonly expected: boolean;
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
      fields: {
        actions: {
          items: { fields: { id: anyValue, status: anyValue, error: { fields: { code: anyValue } } } },
        },
      },
    },
    data: anyValue,
  },
};

/**
 * Parses an answer of a read for `readTaskWith` and `readingOfExtraction`. Throws what `parseLargeJson` throws. JSON.parse
 * takes up to a hundred times the memory of the bytes (`npm run bench:memory`), and so ended the process.
 */
export const parseRead = (bytes: Uint8Array): unknown => parseLargeJson(bytes, partsOfReading);

const codeOrUnknown = (text: string): string => (looksLikeCode(text) ? text : 'unknown');

/** The result of an action without free text: what does not look like a code becomes `unknown`. */
const codesOnly = ({ id, status, errorCode }: ActionResult): ActionResult => ({
  id: codeOrUnknown(id),
  status: codeOrUnknown(status),
  ...(errorCode === undefined ? {} : { errorCode: codeOrUnknown(errorCode) }),
});

/** The reading of a v2 task. Its `taskStatus` alone decides whether it has ended. */
export const readingOfTask = ({ taskStatus, results, bytes }: TaskReading): Read => {
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
    hasResults: parsed.kind !== 'none',
    actionResults: parsed.kind === 'actions' ? actions.map(codesOnly) : undefined,
  } as const;
  return { reading, bytes };
};

/**
 * Reads a v2 task. An answer over the size limit is a reading too, without a status. Throws every other error of
 * `read`.
 */
export const readTaskWith = async (read: () => Promise<TaskReading>): Promise<Read> => {
  try {
    return readingOfTask(await read());
  } catch (error) {
    if (error instanceof ProviderAnswerTooLarge) {
      return without({ kind: 'too-large', taskStatus: undefined });
    }
    throw error;
  }
};

/**
 * The reading of an extraction by consent. The v1 variant ends with the status `success`, or with another one and the code of an
 * error. The v2 variant has no status, and its 200 means that it has finished. Data of an unexpected form do not change that it
 * has ended.
 */
export const readingOfExtraction = (answer: ExtractionAnswer): Read => {
  if (answer.kind === 'in-progress') return without({ kind: 'running', known: true });
  if (answer.kind === 'too-large') return without({ kind: 'too-large', taskStatus: 'COMPLETED' });
  const ended = { kind: 'ended', reason: undefined, actionResults: undefined } as const;
  const failedWith = (reason: string): Read =>
    without({ ...ended, taskStatus: 'FAILED', reason, hasResults: false, expected: true });
  if (answer.kind === 'failed') return failedWith(failureReason(answer));
  const { taskStatus, taskStatusCode = 0, data, bytes } = answer;
  if (taskStatus !== undefined && taskStatus !== finishedStatus) {
    const known = inProgressStatuses.includes(taskStatus);
    if (known || taskStatusCode < firstErrorCode) return without({ kind: 'running', known });
    return failedWith(failureReason({ errorType: taskStatus }));
  }
  const expected = Array.isArray(data);
  return { reading: { ...ended, taskStatus: 'COMPLETED', hasResults: true, expected }, bytes };
};
