import { isDeepStrictEqual } from 'node:util';
import type { Setting } from './contract.ts';
import { type Direction, type Json, schemaBreaks } from './schema-breaks.ts';
import { indexPrefix, type Stored, type StoredResources } from './stored-resources.ts';

type Files = Readonly<Record<string, Json>>;
type Contract = Readonly<Record<string, unknown>>;
type Compare = (before: never, after: never) => readonly string[];

const entries = (value: unknown): readonly (readonly [string, Json])[] =>
  Object.entries((value ?? {}) as Files);

/** Consumers read each file: a record, a stream record, an event, an event on the bus. */
const compareSchemas = (before: Files, after: Files): readonly string[] =>
  Object.keys(before).flatMap((file) =>
    after[file] === undefined
      ? [`${file} is gone or renamed.`]
      : schemaBreaks('', [before, after], [{ $ref: file }, { $ref: file }], 'read', file).map(
          (one) => `${file}: ${one}`,
        ),
  );

const document = 'openapi';
type Part = {
  readonly schema?: Json;
  readonly required?: boolean;
  readonly name?: string;
  readonly in?: string;
};

/** A part of an API description, without its reference. */
const follow = (whole: Json, part: Json): Json => {
  if (typeof part.$ref !== 'string') return part;
  const names = part.$ref.replace('#/', '').split('/');
  return names.reduce<Json>((value, name) => (value[name] ?? {}) as Json, whole);
};

/** One operation of the release and of today, each with its whole description. */
type Operations = {
  readonly route: string;
  readonly before: { readonly whole: Json; readonly operation: Json };
  readonly after: { readonly whole: Json; readonly operation: Json };
};
type Side = Operations['before'];

const compareParts = (
  { route, before, after }: Operations,
  [path, one, other]: readonly [string, unknown, unknown],
  direction: Direction,
): readonly string[] => {
  const files = [{ [document]: before.whole }, { [document]: after.whole }] as const;
  const parts = [(one ?? {}) as Json, (other ?? {}) as Json] as const;
  return schemaBreaks(path, files, parts, direction, document).map((what) => `${route}: ${what}`);
};

const parametersOf = ({ whole, operation }: Side): ReadonlyMap<string, Part> =>
  new Map(
    ((operation.parameters ?? []) as readonly Json[]).map((one) => {
      const part = follow(whole, one) as Part;
      return [`${part.in} ${part.name}`, part];
    }),
  );

const compareParameters = (operations: Operations): readonly string[] => {
  const { route } = operations;
  const [before, after] = [parametersOf(operations.before), parametersOf(operations.after)];
  const required = [...after].filter(([name, one]) => one.required && !before.get(name)?.required);
  const kept = [...before].flatMap(([name, { schema }]) => {
    const next = after.get(name);
    if (next === undefined) return [`${route}: ${name} is gone or renamed.`];
    return compareParts(operations, [name, schema, next.schema], 'sent');
  });
  return [...kept, ...required.map(([name]) => `${route}: ${name} is required now.`)];
};

const compareContents = (
  operations: Operations,
  [path, one, other]: readonly [string, unknown, unknown],
  direction: Direction,
): readonly string[] => {
  const { route, before, after } = operations;
  const contentOf = ({ whole }: Side, part: unknown) => follow(whole, (part ?? {}) as Json).content;
  return entries(contentOf(before, one)).flatMap(([type, { schema }]) => {
    const next = new Map(entries(contentOf(after, other))).get(type);
    if (next === undefined) return [`${route}: ${path} has no ${type} any more.`];
    return compareParts(operations, [path, schema, next.schema], direction);
  });
};

const compareAnswers = (operations: Operations): readonly string[] => {
  const { route, before, after } = operations;
  const headersOf = ({ whole }: Side, answer: Json) =>
    entries(follow(whole, answer).headers).map(([name]) => name);
  return entries(before.operation.responses).flatMap(([status, answer]) => {
    const next = (after.operation.responses as Files)[status];
    // What fails in another way is a new status. What succeeds has to stay so.
    if (next === undefined) return status.startsWith('2') ? [`${route}: the answer ${status} is gone.`] : [];
    const gone = headersOf(before, answer).filter((name) => !headersOf(after, next).includes(name));
    return [
      ...gone.map((name) => `${route}: ${status} has no ${name} any more.`),
      ...compareContents(operations, [status, answer, next], 'read'),
    ];
  });
};

const compareOperations = (operations: Operations): readonly string[] => {
  const { route, before, after } = operations;
  const bodyOf = ({ operation }: Side): Part | undefined => operation.requestBody as Part | undefined;
  const securityOf = ({ whole, operation }: Side): unknown => operation.security ?? whole.security;
  const isRequired = bodyOf(after)?.required === true && bodyOf(before)?.required !== true;
  return [
    ...compareParameters(operations),
    ...(isRequired ? [`${route}: a body is required now.`] : []),
    ...compareContents(operations, ['body', bodyOf(before), bodyOf(after)], 'sent'),
    ...(isDeepStrictEqual(securityOf(before), securityOf(after))
      ? []
      : [`${route}: who may call it is another.`]),
    ...compareAnswers(operations),
  ];
};

const compareApi = (before: Json, after: Json): readonly string[] =>
  entries(before.paths).flatMap(([path, methods]) =>
    entries(methods).flatMap(([method, operation]) => {
      const route = `${method.toUpperCase()} ${path}`;
      const next = (after.paths as Readonly<Record<string, Files>>)[path]?.[method];
      if (next === undefined) return [`${route} is gone or renamed.`];
      return compareOperations({
        route,
        before: { whole: before, operation },
        after: { whole: after, operation: next },
      });
    }),
  );

type Settings = Readonly<Record<string, Setting>>;

const compareSettings = (before: Settings, after: Settings): readonly string[] => {
  const added = Object.entries(after).filter(
    ([name, { required }]) => required && before[name] === undefined,
  );
  const changed = Object.entries(before).flatMap(([name, old]) => {
    const now = after[name];
    if (now === undefined) return [`The setting ${name} is gone or renamed.`];
    const [least = 0, most = 0] = old.range ?? [];
    const [newLeast = least, newMost = most] = now.range ?? [];
    const refused = (old.words ?? []).filter((word) => now.words !== undefined && !now.words.includes(word));
    return [
      ...(now.required && !old.required ? [`The setting ${name} is required now.`] : []),
      // A deployment that does not name it would change with an upgrade.
      ...(isDeepStrictEqual(old.default, now.default) ? [] : [`The setting ${name} has another default.`]),
      ...(newLeast > least || newMost < most || refused.length > 0
        ? [`The setting ${name} no longer takes every value.`]
        : []),
    ];
  });
  return [...changed, ...added.map(([name]) => `The setting ${name} is new and required.`)];
};

type Names = Readonly<Record<string, readonly string[]>>;

/** Whether it is there, or a command whose argument may be left out now. */
const isKept = (name: string, names: readonly string[]): boolean =>
  names.includes(name) || names.includes(name.replace(' <', ' optional <'));

const compareNames = (before: Names, after: Names): readonly string[] =>
  Object.entries(before).flatMap(([kind, list]) =>
    list
      .filter((name) => !isKept(name, after[kind] ?? []))
      .map((name) => `${kind}: ${name} is gone or renamed.`),
  );

/**
 * "You can add or delete one global secondary index" with an update of a table, and change nothing else of one
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-dynamodb-table.html). Only AWS itself refuses more.
 */
const compareIndexes = (table: string, before: Stored, after: Stored): readonly string[] => {
  const named = (its: Stored) => Object.keys(its).filter((name) => name.startsWith(indexPrefix));
  const [old, now] = [named(before), named(after)];
  const moved = [...old.filter((name) => !now.includes(name)), ...now.filter((name) => !old.includes(name))];
  const changed = old.filter((name) => now.includes(name) && before[name] !== after[name]);
  return [
    ...changed.map(
      (name) => `${table}: the ${name} has other keys or another projection, which AWS refuses.`,
    ),
    ...(moved.length > 1
      ? [`${table}: ${moved.join(', ')} in one update, and AWS makes or removes one.`]
      : []),
  ];
};

const compareStored = (before: StoredResources, after: StoredResources): readonly string[] =>
  Object.entries(before).flatMap(([shape, resources]) =>
    Object.entries(resources).flatMap(([id, old]) => {
      const now = after[shape]?.[id];
      if (now === undefined)
        return [`${id} (${old.Type}, ${shape}) is gone or renamed, with all that it keeps.`];
      const replaced = [...new Set([...Object.keys(old), ...Object.keys(now)])]
        .filter((property) => !property.startsWith(indexPrefix) && old[property] !== now[property])
        .map((property) => `${id} (${old.Type}, ${shape}) has another ${property}, so AWS makes a new one.`);
      return [...replaced, ...compareIndexes(`${id} (${shape})`, old, now)];
    }),
  );

const comparisons: Readonly<Record<string, Compare>> = {
  'schemas.json': compareSchemas,
  'openapi.json': compareApi,
  'settings.json': compareSettings,
  'names.json': compareNames,
  'stored-resources.json': compareStored,
};

/** What the release promised and today's contract does not keep, as sentences. By the files that the release is given with. */
export const breaksOf = (release: Contract, today: Contract): readonly string[] =>
  Object.entries(release).flatMap(
    ([file, promised]) => comparisons[file]?.(promised as never, today[file] as never) ?? [],
  );

/** The first version that may break what this one promised: https://semver.org, and before 1.0.0 the next minor version. */
export const versionThatBreaks = (version: string): string => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === 0 ? `0.${minor + 1}.0` : `${major + 1}.0.0`;
};
