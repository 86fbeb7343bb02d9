import { ApiError, NoAnswerError } from '../../../../lib/client/api-errors.ts';
import { type ExtractionRequest, requestExtraction } from '../../../../lib/client/request-extraction.ts';
import type { SendDeps } from '../../../../lib/client/send-with-retries.ts';
import type { ConsentExtraction, Extraction } from '../../../../lib/extraction/record.ts';
import { againKey, isRequestable, parseNationalIds, requestOf } from '../../operate/start-again.ts';
import { CliError } from '../../terminal/errors.ts';
import { explainFailure } from '../../terminal/explain-failure.ts';
import { plural } from '../../terminal/plural.ts';
import type { ConsoleAction } from './action-types.ts';
import { checkTypedNumber } from './check-typed-number.ts';

type Sending = Pick<SendDeps, 'fetch' | 'sleep'> & { readonly apiUrl: string };

type StartAgainDeps = Sending & {
  /** Throws CliError where there is none. */
  readonly recordOf: (extractionId: string) => Promise<Extraction>;
  readonly newKey: () => string;
};

/** No message of these has a value of the request. */
const explain = (error: unknown): unknown => {
  if (error instanceof ApiError) return new CliError([...error.lines], { cause: error });
  if (!(error instanceof NoAnswerError)) return error;
  const text =
    'The API did not answer, and may have accepted the request: look for a new extraction before you do this again.';
  return new CliError(text, { cause: error.cause });
};

const asked = [
  { method: 'credentials', id: 'start-again', secret: 'The credentials of the user, as a JSON object' },
  {
    method: 'consent',
    id: 'start-again-by-consent',
    secret: 'The national id of the user who gave the consent',
  },
] as const;

/** Requests the same as an extraction that has closed, under a new key. Nothing of what is entered is kept. */
export const startAgainActions = ({
  apiUrl,
  recordOf,
  newKey,
  ...send
}: StartAgainDeps): readonly ConsoleAction[] =>
  asked.map(({ method, id, secret: label }) => ({
    id,
    label: 'Start again with the same input',
    place: 'extraction',
    secret: label,
    isFor: (record) => record.method === method && record.dueShard === undefined,
    effect:
      'It requests what this extraction was requested for, with its reference, batch and priority, under a new key. You are its caller: the first caller cannot read it, unless it is one of the readers. The bank is asked again.',
    run: async (extractionId, _, secret = '') => {
      const request = requestOf(await recordOf(extractionId), secret) as ExtractionRequest;
      const { extraction } = await requestExtraction(apiUrl, request, newKey(), send).catch(
        (error: unknown) => {
          throw explain(error);
        },
      );
      return { text: `${extraction.extractionId} is requested.`, extractionId: extraction.extractionId };
    },
  }));

type RequestAgainDeps = Sending & {
  /** What the list shows for a query, on all of its pages. */
  readonly matching: (query: string) => Promise<readonly Extraction[]>;
};

/** They are sent one after the other, each some 0.1 s, and the form waits for all. */
const maxRequested = 500;

/** Of what matches: what can be requested again, and why not the rest, as parts of a sentence. */
const selectRequestable = (records: readonly Extraction[]) => {
  const byCredentials = records.filter(({ method }) => method === 'credentials').length;
  const requestable = records.filter(isRequestable);
  const open = records.length - byCredentials - requestable.length;
  const leftOut = [
    ...(byCredentials > 0 ? [`${byCredentials} by credentials, because none are kept`] : []),
    ...(open > 0 ? [`${open} by consent, because they are still open`] : []),
  ];
  return { requestable, leftOut };
};

const leftOutSentence = (reasons: readonly string[]): string =>
  reasons.length === 0 ? '' : ` Left out: ${reasons.join('; ')}.`;

type Known = { readonly record: ConsentExtraction; readonly nationalId: string };

/** Requests one after the other. Returns of each whether it had been requested before. */
const requestEach = async (
  known: readonly Known[],
  { apiUrl, ...send }: Sending,
): Promise<readonly boolean[]> => {
  const answers: boolean[] = [];
  for (const { record, nationalId } of known) {
    const request = {
      ...(requestOf(record, nationalId) as ExtractionRequest),
      priority: 'background',
    } as const;
    try {
      const { replayed } = await requestExtraction(apiUrl, request, againKey(record), send);
      answers.push(replayed);
    } catch (cause) {
      const explanation =
        cause instanceof NoAnswerError ? 'The API did not answer.' : explainFailure(explain(cause));
      if (explanation === undefined) throw cause;
      throw new CliError(
        `${answers.length} of ${known.length} are requested. Then: ${explanation} Do it again: nothing is requested twice.`,
        { cause },
      );
    }
  }
  return answers;
};

/**
 * Requests again what a filter matches, by consent, as the only secret of these is a national id that many share. The key follows from the
 * extraction, so that a form that is sent again requests nothing twice. The operator types how many.
 */
export const requestAgainAction = ({ apiUrl, matching, ...send }: RequestAgainDeps): ConsoleAction => ({
  id: 'request-again',
  label: 'Request again all that match',
  place: 'list',
  secret: 'The national ids of the users, as a JSON object with the consentId of each',
  input: 'How many extractions, to confirm',
  isFor: isRequestable,
  effect:
    'Each by consent that has closed is requested once more, with its reference and batch, as background and under a new key. You are its caller. Those whose consent is not in the object are left out.',
  describe: async (query) => {
    const records = await matching(query);
    const { requestable, leftOut } = selectRequestable(records);
    const matches = plural(records.length, 'extraction matches', 'extractions match');
    return `${matches} this filter now, and ${requestable.length} can be requested again.${leftOutSentence(leftOut)}`;
  },
  run: async (query, input, secret = '') => {
    const { requestable, leftOut } = selectRequestable(await matching(query));
    const count = requestable.length;
    const now = `${count} can be requested again`;
    checkTypedNumber(input, { count, now, max: maxRequested, done: 'requested' });
    const nationalIds = parseNationalIds(secret);
    const known = requestable.flatMap((record) => {
      const nationalId = nationalIds.get(record.consentId);
      return nationalId === undefined ? [] : [{ record, nationalId }];
    });
    const answers = await requestEach(known, { apiUrl, ...send });
    const before = answers.filter((replayed) => replayed).length;
    const unknown = requestable.length - known.length;
    const requested = plural(answers.length - before, 'extraction is', 'extractions are');
    return {
      text: `${requested} requested.${before === 0 ? '' : ` ${before} had been requested again before.`}${leftOutSentence(
        [
          ...leftOut,
          ...(unknown > 0 ? [`${unknown}, because the national id of their consent was not entered`] : []),
        ],
      )}`,
    };
  },
});
