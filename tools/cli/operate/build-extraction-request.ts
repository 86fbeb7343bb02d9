import { pointerTo } from '../../../lib/http/body-fields.ts';
import {
  findChangedNumbers,
  findDuplicateNames,
  parseExactJson,
} from '../../../lib/http/parse-request-body.ts';
import { CliError, UsageError } from '../terminal/errors.ts';

/** The options of `start`. Credentials and national ids are read from a file or from standard input. */
export type StartOptions = {
  readonly file?: string;
  readonly entity?: string;
  readonly action?: readonly string[];
  readonly movementFrom?: string;
  readonly movementTo?: string;
  readonly credentials?: string;
  readonly consent?: string;
  readonly product?: string;
  readonly variant?: string;
  readonly target?: string;
  readonly reference?: string;
  readonly idempotencyKey?: string;
  readonly batch?: string;
  readonly watch?: true;
};

type ReadText = (path: string, what: string) => Promise<string>;

const STDIN = '-';

const byCredentials = ['entity', 'action', 'movementFrom', 'movementTo', 'credentials'] as const;
const byConsent = ['consent', 'product', 'variant', 'target'] as const;

const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const flagsIn = (options: StartOptions, names: readonly (keyof StartOptions)[]): string[] =>
  names.filter((name) => options[name] !== undefined).map(flagOf);

const readJson = (text: string, content: string): unknown => {
  try {
    return parseExactJson(text);
  } catch {
    // Without a cause: JSON.parse quotes the text that it cannot parse.
    throw new CliError(`${content} must be JSON.`);
  }
};

/** `content` begins a sentence, such as `The request`. Throws CliError, which has none of the text. */
export const parseJson = (text: string, content: string): unknown => {
  const json = readJson(text, content);
  const [twice] = findDuplicateNames(text);
  if (twice !== undefined) throw new CliError(`${content}: ${pointerTo(twice)} occurs twice.`);
  const [changed] = findChangedNumbers(json);
  if (changed === undefined) return json;
  throw new CliError(
    `${content}: the number at ${pointerTo(changed)} would change as a 64-bit float. Write it as a string.`,
  );
};

/** A file with `mode` is the API's own field. Any other holds the fields of the entity, in the clear. */
export const credentialsField = (json: unknown): unknown =>
  typeof json === 'object' && json !== null && 'mode' in json ? json : { mode: 'raw', value: json };

const actionsOf = ({ action = [], movementFrom, movementTo }: StartOptions): readonly unknown[] => {
  if (action.includes('movement')) {
    throw new UsageError(
      'The action movement needs its days. Use --movement-from <date> and --movement-to <date> in place of --action movement.',
    );
  }
  if ((movementFrom === undefined) !== (movementTo === undefined)) {
    throw new UsageError('Use --movement-from and --movement-to together.');
  }
  const movement =
    movementFrom === undefined
      ? []
      : [{ id: 'movement', params: { dateRange: { startDate: movementFrom, endDate: movementTo } } }];
  const actions = [...action.map((id) => ({ id })), ...movement];
  if (actions.length > 0) return actions;
  throw new UsageError('Name an action: --action, or --movement-from and --movement-to.');
};

const wholeRequest = async (file: string, options: StartOptions, readText: ReadText): Promise<unknown> => {
  const [other] = flagsIn(options, [...byCredentials, ...byConsent, 'reference']);
  if (other !== undefined) {
    throw new UsageError(`--file is the whole request, so ${other} cannot be used with it.`);
  }
  return parseJson(await readText(file, 'the request as JSON'), 'The request');
};

const consentRequest = async (options: StartOptions, readText: ReadText): Promise<unknown> => {
  const { consent: consentId, product, variant, reference, target } = options;
  if (consentId === undefined || product === undefined) {
    throw new UsageError('An extraction by consent needs --consent and --product.');
  }
  const nationalId = (await readText(target ?? STDIN, "the user's national id")).trim();
  return { method: 'consent', product, consentId, target: nationalId, variant, reference };
};

const credentialsRequest = async (options: StartOptions, readText: ReadText): Promise<unknown> => {
  const { entity, credentials, reference } = options;
  if (entity === undefined) {
    throw new UsageError(
      'Name what to extract: --file, or --entity with its actions, or --consent with --product.',
    );
  }
  const actions = actionsOf(options);
  const json = parseJson(await readText(credentials ?? STDIN, 'the credentials as JSON'), 'The credentials');
  return { entity, credentials: credentialsField(json), actions, reference };
};

/**
 * The body of POST /extractions that the options describe, before JSON omits what is undefined. The API validates it. Credentials and national ids
 * are read from files: every user of a machine can read the arguments of its processes, and shells store them.
 * Throws UsageError, and CliError for a file that is not JSON.
 */
export const buildExtractionRequest = async (options: StartOptions, readText: ReadText): Promise<unknown> => {
  if (options.file !== undefined) return wholeRequest(options.file, options, readText);
  const [credentialsFlag] = flagsIn(options, byCredentials);
  const [consentFlag] = flagsIn(options, byConsent);
  if (consentFlag === undefined) return credentialsRequest(options, readText);
  if (credentialsFlag === undefined) return consentRequest(options, readText);
  throw new UsageError(
    `${credentialsFlag} is by credentials and ${consentFlag} by consent. Use one of them.`,
  );
};
