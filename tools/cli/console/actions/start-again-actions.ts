import { ApiError, NoAnswerError } from '../../../../lib/client/api-errors.ts';
import { type ExtractionRequest, requestExtraction } from '../../../../lib/client/request-extraction.ts';
import type { SendDeps } from '../../../../lib/client/send-with-retries.ts';
import { defined } from '../../../../lib/defined.ts';
import type { Extraction } from '../../../../lib/extraction/record.ts';
import { credentialsField, parseJson } from '../../operate/build-extraction-request.ts';
import { CliError } from '../../terminal/errors.ts';
import type { ConsoleAction } from './action-types.ts';

type StartAgainDeps = Pick<SendDeps, 'fetch' | 'sleep'> & {
  readonly apiUrl: string;
  /** Throws CliError where there is none. */
  readonly recordOf: (extractionId: string) => Promise<Extraction>;
  readonly newKey: () => string;
};

/** The request that a record was made for. Its credentials or national id are gone, so that the operator enters them. */
const requestOf = (record: Extraction, secret: string): unknown => {
  const { reference, batch, priority } = record;
  const names = defined({ reference, batch, priority });
  if (record.method === 'consent') {
    const { method, product, consentId, variant } = record;
    return { method, product, consentId, variant, target: secret, ...names };
  }
  const { entity, actions } = record;
  const credentials = credentialsField(parseJson(secret, 'The credentials'));
  return { entity, actions, credentials, ...names };
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
  { method: 'credentials', id: 'start-again', input: 'The credentials of the user, as a JSON object' },
  {
    method: 'consent',
    id: 'start-again-by-consent',
    input: 'The national id of the user who gave the consent',
  },
] as const;

/** Requests the same as an extraction that has closed, under a new key. Nothing of what is entered is kept. */
export const startAgainActions = ({
  apiUrl,
  recordOf,
  newKey,
  ...send
}: StartAgainDeps): readonly ConsoleAction[] =>
  asked.map(({ method, id, input }) => ({
    id,
    label: 'Start again with the same input',
    place: 'extraction',
    changes: true,
    input,
    isSecret: true,
    isFor: (record) => record.method === method && record.dueShard === undefined,
    effect:
      'It requests what this extraction was requested for, with its reference, batch and priority, under a new key. You are its caller: the first caller cannot read it, unless it is one of the readers. The bank is asked again.',
    run: async (extractionId, secret) => {
      const request = requestOf(await recordOf(extractionId), secret) as ExtractionRequest;
      const { extraction } = await requestExtraction(apiUrl, request, newKey(), send).catch(
        (error: unknown) => {
          throw explain(error);
        },
      );
      return { text: `${extraction.extractionId} is requested.`, extractionId: extraction.extractionId };
    },
  }));
