import { judgeOutcome, outcomeText } from '../../../lib/extraction/advice.ts';
import { isErrorName, isPublicCode, meaningOf } from '../../../lib/extraction/causes.ts';
import { isProblem } from '../../../lib/extraction/codes.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { errorCodesOf } from '../../../lib/extraction/write-progress.ts';
import type { ActionErrorCode } from '../../../lib/provider/vocabulary.ts';

/** The provider's document, "Action error codes". Each meaning is a clause. */
const meanings: Readonly<Record<ActionErrorCode, string>> = {
  UNKNOWN_ERROR: 'an unclassified or unexpected error',
  ACTION_ERROR: 'the action could not complete during execution',
  REQUEST_BLOCK_ERROR: 'the request was blocked, for example by the entity',
  TIMEOUT_ERROR: 'the maximum operation time was exceeded',
  ENTITY_API_ERROR: "the entity's API reported an error",
};

/** "The catalogue grows over time." */
const actionErrorMeaning = (code: string): string =>
  Object.hasOwn(meanings, code) ? meanings[code as ActionErrorCode] : 'a code that Cosecha does not know';

/** What one of the public codes means, as a clause (lib/extraction/causes.ts). */
export const describeCode = (code: string): string => {
  const [, httpStatus, error] = /^http-(\d{3})(?:\/(.+))?$/.exec(code) ?? [];
  if (httpStatus !== undefined) {
    return `the provider answered with HTTP ${httpStatus}${error === undefined ? '' : ` and its error ${error}`}`;
  }
  const [, kind, inner = ''] = /^(login-|held\/)(.+)$/.exec(code) ?? [];
  if (kind === 'login-') return `the provider gave no token: ${describeCode(inner)}`;
  if (inner === 'paused') return 'an operator paused starts';
  if (inner === 'slow') return 'starts were held, because the last one took too long';
  if (kind === 'held/') return `starts were held, because the last one failed: ${describeCode(inner)}`;
  return isPublicCode(code) ? meaningOf(code) : `the provider's error is ${code}`;
};

/** What a try to start failed with. `problem`: the cause that start-task reported, if it is one of the public codes. */
type StartError = { readonly error: string; readonly problem?: string | undefined };

/** As a clause. Undefined for an error that start-task does not report by name, such as an error of Lambda. */
export const knownStartError = ({ error, problem }: StartError): string | undefined => {
  if (!isErrorName(error)) return undefined;
  return isProblem(problem) ? describeCode(problem) : meaningOf(error);
};

export const describeStartError = (of: StartError): string =>
  knownStartError(of) ?? `start-task failed with ${of.error}`;

/** The actions that failed, by their error codes. */
export const failedActions = ({ actionResults = [] }: Extraction) => {
  const failed = actionResults.filter(
    ({ status, errorCode }) => status === 'FAILED' || errorCode !== undefined,
  );
  const byCode = Map.groupBy(failed, ({ errorCode = 'unknown' }) => errorCode);
  return [...byCode].map(([code, results]) => ({ code, actions: results.map(({ id }) => id).join(', ') }));
};

/** For each error code a phrase, such as `movement: TIMEOUT_ERROR`. */
export const failurePhrases = (record: Extraction): readonly string[] =>
  failedActions(record).map(({ code, actions }) => `${actions}: ${code}`);

export const failureMeanings = (record: Extraction): readonly string[] =>
  failedActions(record).map(({ code, actions }) => `${actions}: ${code} (${actionErrorMeaning(code)})`);

/** `movement failed with TIMEOUT_ERROR: the maximum operation time was exceeded.` */
export const explainActions = (actions: string, code: string): string =>
  `${actions} failed with ${code}: ${actionErrorMeaning(code)}.`;

/**
 * Why an extraction failed, in codes: of its actions' errors or, without any, its status and reason. Undefined if it did not
 * fail, as after a wrong password.
 */
export const causeOf = (record: Extraction): string | undefined => {
  if (record.settledAt === undefined || judgeOutcome(outcomeText(record)) !== 'failed') return undefined;
  const codes = errorCodesOf(record);
  return codes.length > 0 ? codes.join(' and ') : outcomeText(record);
};
