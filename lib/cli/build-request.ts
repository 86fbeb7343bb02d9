import { findChangedNumbers, parseExactJson } from '../http/exact-json.ts';
import { pointerTo } from '../http/violation.ts';
import { CliError, UsageError } from './errors.ts';

/** The flags of `start`. Never a credential or a national id: those come from a file or from standard input. */
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
  readonly watch?: true;
};

type ReadText = (path: string) => Promise<string>;

const STDIN = '-';

const byCredentials = ['entity', 'action', 'movementFrom', 'movementTo', 'credentials'] as const;
const byConsent = ['consent', 'product', 'variant', 'target'] as const;

const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const given = (options: StartOptions, names: readonly (keyof StartOptions)[]): string[] =>
  names.filter((name) => options[name] !== undefined).map(flagOf);

const readJson = (text: string, what: string): unknown => {
  try {
    return parseExactJson(text);
  } catch {
    // Without a cause: JSON.parse quotes what it stumbled over.
    throw new CliError(`${what} must be given as JSON.`);
  }
};

const parseJson = (text: string, what: string): unknown => {
  const json = readJson(text, what);
  const [changed] = findChangedNumbers(json);
  if (changed === undefined) return json;
  throw new CliError(
    `${what} must not have a number that changes when it is read, as at ${pointerTo(changed)} does: give it as a string.`,
  );
};

/** A file with `mode` is the API's own field; anything else is what the entity asks for, in the clear. */
const credentialsField = (json: unknown): unknown =>
  typeof json === 'object' && json !== null && 'mode' in json ? json : { mode: 'raw', value: json };

const actionsOf = ({ action = [], movementFrom, movementTo }: StartOptions): readonly unknown[] => {
  if ((movementFrom === undefined) !== (movementTo === undefined)) {
    throw new UsageError('--movement-from and --movement-to go together.');
  }
  const movement =
    movementFrom === undefined
      ? []
      : [{ id: 'movement', params: { dateRange: { startDate: movementFrom, endDate: movementTo } } }];
  const actions = [...action.map((id) => ({ id })), ...movement];
  if (actions.length > 0) return actions;
  throw new UsageError('Extract what? Say --action, or --movement-from and --movement-to.');
};

const referenceOf = ({ reference }: StartOptions) => (reference === undefined ? {} : { reference });

/**
 * The body of POST /extractions that the flags stand for; what is wrong with its values, the API says. Credentials
 * and target are read, never taken from the command line, which every user of the machine can see in the list of
 * processes, and which shells write down.
 *
 * @throws UsageProblem, Problem for a file that is not JSON
 */
export const buildRequest = async (options: StartOptions, readText: ReadText): Promise<unknown> => {
  const credentials = given(options, byCredentials);
  const consent = given(options, byConsent);
  if (options.file !== undefined) {
    const [more] = [...credentials, ...consent, ...given(options, ['reference'])];
    if (more !== undefined) throw new UsageError(`--file is the whole request: ${more} does not go with it.`);
    return parseJson(await readText(options.file), 'The request');
  }
  if (credentials.length > 0 && consent.length > 0) {
    throw new UsageError(`${credentials[0]} is for credentials and ${consent[0]} for a consent: choose one.`);
  }
  if (consent.length > 0) {
    const { consent: consentId, product, variant } = options;
    if (consentId === undefined || product === undefined) {
      throw new UsageError('An extraction under a consent needs --consent and --product.');
    }
    const target = (await readText(options.target ?? STDIN)).trim();
    return {
      ...{ method: 'consent', product, consentId, target },
      ...(variant === undefined ? {} : { variant }),
      ...referenceOf(options),
    };
  }
  if (options.entity === undefined) {
    throw new UsageError(
      'Start what? Say --file, or --entity with its actions, or --consent with its product.',
    );
  }
  const actions = actionsOf(options);
  const json = parseJson(await readText(options.credentials ?? STDIN), 'The credentials');
  return { entity: options.entity, credentials: credentialsField(json), actions, ...referenceOf(options) };
};
