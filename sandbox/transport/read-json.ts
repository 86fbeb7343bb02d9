import * as v from 'valibot';
import type { SandboxContext } from './hono-types.ts';
import { invalidRequest } from './refusal.ts';

/** A path such as `actions.0.params`, and what was expected there. The received value is not shown. */
type Problem = { readonly path: string; readonly expected: string | null };

/** Parses JSON, or throws the error that `refuse` makes of its problems. An empty text is invalid. */
export const parseJson = <Schema extends v.GenericSchema>(
  text: string,
  schema: Schema,
  refuse: (problems: readonly Problem[]) => Error,
): v.InferOutput<Schema> => {
  const json = jsonFrom(text);
  const parsed = v.safeParse(schema, json);
  const problems = parsed.success
    ? arraysParsedAsObjects(json, parsed.output).map((path) => ({ path, expected: 'Object' }))
    : parsed.issues.map((issue) => ({ path: v.getDotPath(issue) ?? '', expected: issue.expected }));
  if (parsed.success && problems.length === 0) return parsed.output;
  throw refuse(problems);
};

/** The body of a call to a route of the provider. */
export const bodyOf = <Schema extends v.GenericSchema>(
  c: SandboxContext,
  schema: Schema,
  text = c.get('body'),
): v.InferOutput<Schema> =>
  parseJson(text, schema, (problems) => invalidRequest(c, [...new Set(problems.map(({ path }) => path))]));

/** Paths of arrays that were parsed as objects: valibot accepts those where no field is required. */
const arraysParsedAsObjects = (input: unknown, output: unknown, path: readonly string[] = []): string[] => {
  if (!isObject(input) || !isObject(output)) return [];
  if (Array.isArray(input) && !Array.isArray(output)) return [path.join('.')];
  return Object.entries(input).flatMap(([key, value]) =>
    arraysParsedAsObjects(value, output[key], [...path, key]),
  );
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Undefined if it is no JSON. */
export const jsonFrom = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
