import type { Context, MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import type { SandboxEnv } from '../transport/hono-types.ts';
import { arraysParsedAsObjects } from '../transport/read-json.ts';

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

/** A control call that is refused, with `status` and `{message}`. */
export class ControlError extends Error {
  readonly status: 400 | 404 | 409;

  constructor(status: 400 | 404 | 409, message: string) {
    super(message);
    this.name = 'ControlError';
    this.status = status;
  }
}

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/** The control interface has no authentication, so it only answers its own machine. */
export const loopbackOnly: MiddlewareHandler<SandboxEnv> = async (c, next) => {
  if (!loopback.has(c.env.incoming.socket.remoteAddress ?? '')) {
    return c.json({ message: 'The control interface only answers its own machine' }, 403);
  }
  await next();
  return undefined;
};
