import * as v from 'valibot';

export type ParsedBody<Output> =
  | { readonly valid: true; readonly output: Output }
  /** Paths such as `actions.0.params`; never the values that were sent. */
  | { readonly valid: false; readonly invalid: readonly string[] };

/** A JSON body as the schema has it, or the places where it is not. An empty body is invalid. */
export function readJson<Schema extends v.GenericSchema>(
  body: string,
  schema: Schema,
): ParsedBody<v.InferOutput<Schema>> {
  const parsed = v.safeParse(schema, fromJson(body));
  if (parsed.success) return { valid: true, output: parsed.output };
  const paths = parsed.issues.map((issue) => v.getDotPath(issue) ?? '');
  return { valid: false, invalid: [...new Set(paths)] };
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
