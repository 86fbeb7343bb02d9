import { Token } from 'aws-cdk-lib';
import * as v from 'valibot';
import { taskActions } from '../../lib/provider/vocabulary.ts';

/** The values that a setting takes, in words: its unit and range, or its form. */
export const values = <Value>(text: string) =>
  v.metadata<Value, { readonly values: string }>({ values: text });

export const text = v.string('must be text');

/** A number, or its text on the command line. */
const numberOf = (
  { unit, least, most, decimals }: Readonly<Record<'least' | 'most' | 'decimals', number> & { unit: string }>,
  problem: string,
) =>
  v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+(\.\d+)?$/), v.transform(Number))], problem),
    v.check((n) => n >= least && n <= most && Number(n.toFixed(decimals)) === n, problem),
    values(`${unit}, ${least} to ${most}`),
  );

export const wholeNumber = (unit: string, least: number, most: number) =>
  numberOf({ unit, least, most, decimals: 0 }, `must be a whole number of ${unit} from ${least} to ${most}`);

export const seconds = (least: number, most: number) => wholeNumber('seconds', least, most);

/** A number that may have a fraction. `least`: as far as the decimals go. */
export const decimalNumber = (unit: string, least: number, most: number) =>
  numberOf(
    { unit, least, most, decimals: 3 },
    `must be a number of ${unit} from ${least} to ${most}, with three decimals at most`,
  );

export const trueOrFalse = v.pipe(
  v.union(
    [
      v.boolean(),
      v.pipe(
        v.picklist(['true', 'false']),
        v.transform((word) => word === 'true'),
      ),
    ],
    'must be true or false',
  ),
  values('`true` or `false`'),
);

export const providerUrl = v.pipe(
  text,
  v.check(
    (value) => addressProblem(value) === undefined,
    ({ input }) => addressProblem(input) ?? '',
  ),
  v.transform((value) => value.replace(/\/+$/, '')),
);

/** A text of this form, or a value that only the deployment knows: an attribute of a resource, or a parameter. */
export const textOf = (form: string, pattern: RegExp) =>
  v.pipe(
    text,
    v.check((value) => Token.isUnresolved(value) || pattern.test(value), `must be ${form}`),
    values(form),
  );

const addressProblem = (value: string): string | undefined => {
  if (Token.isUnresolved(value)) return undefined;
  if (!URL.canParse(value)) return 'must be an absolute http(s) address';
  const { protocol, username, password, search, hash } = new URL(value);
  if (!/^https?:$/.test(protocol)) return 'must be an absolute http(s) address';
  if (username + password !== '') {
    return 'must not carry a user name or password: they would end up in the template';
  }
  if (search + hash !== '') return 'must not have a query or a fragment: paths are appended to it';
  return undefined;
};

/**
 * A method and a path at the provider, as `GET /api/v1/consents/{consentId}/pdf`. A path that may be of a GET has to have its
 * `parameter`, as nothing else names what the call is about.
 */
export const endpoint = (methods: readonly string[], parameter?: '{consentId}' | '{taskId}') => {
  const isRequired = methods.includes('GET');
  const isEndpoint = (value: string): boolean => {
    const [method = '', path = '', ...more] = value.split(' ');
    const plain = parameter === undefined ? path : path.replace(parameter, 'id');
    // No escape, query or dot segment, which would lead elsewhere.
    const isPath = /^(\/[A-Za-z0-9][\w.~-]*)+$/.test(plain);
    return methods.includes(method) && isPath && more.length === 0 && (!isRequired || plain !== path);
  };
  const where =
    parameter === undefined ? '' : isRequired ? ` with ${parameter}` : ` with ${parameter} or without`;
  const form = `${methods.join(', ')} and a path${where}`;
  return v.pipe(text, v.check(isEndpoint, `must be one of ${form}`), values(`one of ${form}`));
};

/** A list, or one text with commas between, without empty parts. `form`: of its parts, in words. */
const listOf = (form: string, passes: (part: string) => boolean) => {
  const problem = `must be ${form}: a list, or one text with commas between them`;
  return v.pipe(
    v.union([v.array(text), text], problem),
    v.transform((value) =>
      (typeof value === 'string' ? value.split(',') : value)
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    ),
    v.check((parts) => parts.every(passes), problem),
  );
};

export const entitySlugs = listOf('entities of the provider, of a-z, 0-9 and "-"', (entity) =>
  /^[a-z0-9][a-z0-9-]{0,99}$/.test(entity),
);

/** No comma, which separates them, and no colon, which joins entity and action. The provider's document does not show its entities. */
export const entityNames = v.pipe(
  listOf('entities of the provider, without spaces and ":"', (entity) => /^[^\s:,]{1,100}$/.test(entity)),
  v.maxLength(150, 'must name at most 150 entities'),
  // The environment of a function has 4,096 bytes.
  v.check(
    (entities) => Buffer.byteLength(entities.join('","')) <= 2_000,
    'must have at most 2,000 bytes in all names together',
  ),
  values('comma-separated entities, 150 at most'),
);

const idOfAction = (action: string): string => action.split(':')[0] ?? '';

/** `<id>` takes no params, and `<id>:dateRange` takes a date range. No others, as params are in the record. */
export const actionsWithParams = v.pipe(
  listOf('actions of the provider, of a-z, 0-9 and "-", with ":dateRange" where one needs dates', (action) =>
    /^[a-z0-9][a-z0-9-]{0,49}(:dateRange)?$/.test(action),
  ),
  v.maxLength(20, 'must name at most 20 actions'),
  v.check(
    (actions) => new Set(actions.map(idOfAction)).size === actions.length,
    'must name each action once',
  ),
  v.check(
    (actions) => !actions.some((action) => Object.hasOwn(taskActions, idOfAction(action))),
    `must not name ${Object.keys(taskActions).join(', ')}, which are always accepted`,
  ),
  values('comma-separated `<action>` or `<action>:dateRange`, 20 at most'),
);

const principalArn =
  /^arn:aws[a-z-]*:(iam::\d{12}:(user|role)\/[\w+=,.@/-]+|iam::\d{12}:root|sts::\d{12}:assumed-role\/[\w+=,.@-]+)$/;

export const principalArns = listOf(
  'ARNs of IAM users or roles, without session names',
  (arn) => Token.isUnresolved(arn) || principalArn.test(arn),
);
