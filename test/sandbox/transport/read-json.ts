import * as v from 'valibot';

export type ParsedBody<Output> =
  | { readonly valid: true; readonly output: Output }
  /** Paths such as `actions.0.params`, without the received values. */
  | { readonly valid: false; readonly invalid: readonly string[] };

/** Parses a JSON body. Returns the output, or the paths of invalid fields. An empty body is invalid. */
export const readJson = <Schema extends v.GenericSchema>(
  body: string,
  schema: Schema,
): ParsedBody<v.InferOutput<Schema>> => {
  const json = fromJson(body);
  const parsed = v.safeParse(schema, json);
  const paths = parsed.success
    ? arraysParsedAsObjects(json, parsed.output)
    : parsed.issues.map((issue) => v.getDotPath(issue) ?? '');
  if (parsed.success && paths.length === 0) return { valid: true, output: parsed.output };
  return { valid: false, invalid: [...new Set(paths)] };
};

/** Paths of arrays that were parsed as objects: valibot accepts those where no field is required. */
export const arraysParsedAsObjects = (
  input: unknown,
  output: unknown,
  path: readonly string[] = [],
): string[] => {
  if (!isObject(input) || !isObject(output)) return [];
  if (Array.isArray(input) && !Array.isArray(output)) return [path.join('.')];
  return Object.entries(input).flatMap(([key, value]) =>
    arraysParsedAsObjects(value, output[key], [...path, key]),
  );
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const fromJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
