import { judgeOutcome, outcomeText } from '../../../lib/extraction/judge-outcome.ts';
import { errorCodesOf } from '../../../lib/extraction/progress.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { ActionErrorCode } from '../../../lib/provider/vocabulary.ts';

/** `meaning` is a clause, `remedy` a sentence. */
type ErrorMeaning = { readonly meaning: string; readonly remedy: string };

const readMessage = "The provider's message is in the results. If it repeats, report it to the provider.";
const again = 'It may be requested again.';

/** The provider's document, "Action error codes". */
const errors: Readonly<Record<ActionErrorCode, ErrorMeaning>> = {
  UNKNOWN_ERROR: { meaning: 'an unclassified or unexpected error', remedy: readMessage },
  ACTION_ERROR: { meaning: 'the action could not complete during execution', remedy: readMessage },
  REQUEST_BLOCK_ERROR: {
    meaning: 'the request was blocked, for example by the entity',
    remedy: `${again} If it is blocked each time, ask the provider.`,
  },
  TIMEOUT_ERROR: { meaning: 'the maximum operation time was exceeded', remedy: again },
  ENTITY_API_ERROR: {
    meaning: "the entity's API reported an error",
    remedy: `${again} If others at this entity fail too, wait until it works.`,
  },
};

/** "The catalogue grows over time." */
const otherError: ErrorMeaning = { meaning: 'a code that Cosecha does not know', remedy: readMessage };

const meaningOf = (code: string): ErrorMeaning =>
  Object.hasOwn(errors, code) ? errors[code as ActionErrorCode] : otherError;

/** Each error code, and the actions that failed with it. */
const failedActions = ({ actionResults = [] }: Extraction) => {
  const failed = actionResults.filter(
    ({ status, errorCode }) => status === 'FAILED' || errorCode !== undefined,
  );
  const byCode = Map.groupBy(failed, ({ errorCode = 'unknown' }) => errorCode);
  return [...byCode].map(([code, results]) => ({ code, actions: results.map(({ id }) => id).join(', ') }));
};

/** For each error code a phrase, such as `movement: TIMEOUT_ERROR`. */
export const failurePhrases = (record: Extraction): readonly string[] =>
  failedActions(record).map(({ code, actions }) => `${actions}: ${code}`);

/** The same with the meaning of each code. */
export const failureMeanings = (record: Extraction): readonly string[] =>
  failedActions(record).map(({ code, actions }) => `${actions}: ${code} (${meaningOf(code).meaning})`);

/** For each error code sentences: which actions failed with it, what it means, and what to do. */
export const explainFailures = (record: Extraction): readonly string[] =>
  failedActions(record).map(({ code, actions }) => {
    const { meaning, remedy } = meaningOf(code);
    return `${actions} failed with ${code}: ${meaning}. ${remedy}`;
  });

/** For each error code what to do about it, each once. */
export const remediesOf = (record: Extraction): readonly string[] => [
  ...new Set(failedActions(record).map(({ code }) => meaningOf(code).remedy)),
];

/**
 * Why an extraction failed, in codes: of its actions' errors or, without any, its status and reason. Undefined if it did not
 * fail, as after a wrong password.
 */
export const causeOf = (record: Extraction): string | undefined => {
  if (record.settledAt === undefined || judgeOutcome(outcomeText(record)) !== 'failed') return undefined;
  const codes = errorCodesOf(record);
  return codes.length > 0 ? codes.join(' and ') : outcomeText(record);
};
