import type { Context } from 'hono';
import * as v from 'valibot';
import { arraysParsedAsObjects } from '../transport/read-json.ts';
import { ControlError } from './control-error.ts';

/** The body of a control call. Throws a ControlError (400) with the invalid fields and what was expected. */
export const readBody = async <Schema extends v.GenericSchema>(
  c: Context,
  schema: Schema,
): Promise<v.InferOutput<Schema>> => {
  const json = fromJson(await c.req.text());
  const parsed = v.safeParse(schema, json);
  const problems = parsed.success
    ? arraysParsedAsObjects(json, parsed.output).map((path) => `${path || 'body'}: expected Object`)
    : parsed.issues.map(problemOf);
  if (parsed.success && problems.length === 0) return parsed.output;
  throw new ControlError(400, problems.join('; '));
};

/** In a closed object valibot expects `never` of a field that it does not know. */
const problemOf = (issue: v.BaseIssue<unknown>): string => {
  const path = v.getDotPath(issue) ?? 'body';
  return issue.expected === 'never'
    ? `${path}: unknown field`
    : `${path}: expected ${issue.expected ?? 'something else'}`;
};

/** An empty text is an empty object, because some bodies have optional fields only. */
const fromJson = (text: string): unknown => {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
