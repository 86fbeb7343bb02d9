import type * as v from 'valibot';
import type { SandboxContext } from '../transport/hono-types.ts';
import { parseJson } from '../transport/read-json.ts';
import { refused } from '../transport/refusal.ts';

/** The body of a control call, or an error with the invalid fields and what was expected. */
export const readBody = async <Schema extends v.GenericSchema>(
  c: SandboxContext,
  schema: Schema,
): Promise<v.InferOutput<Schema>> =>
  // An empty text is an empty object, because some bodies have optional fields only.
  parseJson((await c.req.text()) || '{}', schema, (problems) => {
    const message = problems
      // In a closed object valibot expects `never` of a field that it does not know.
      .map(
        ({ path, expected }) =>
          `${path || 'body'}: ${expected === 'never' ? 'unknown field' : `expected ${expected ?? 'something else'}`}`,
      )
      .join('; ');
    return refused(400, { message });
  });

/** What a control call names. */
export const found = <Item>(item: Item | undefined, kind: string): Item => {
  if (item === undefined) throw refused(404, { message: `There is no such ${kind}` });
  return item;
};

/** The items that have the fields of the query. Others than `keys` are ignored. */
export const matching = <Item extends object>(
  items: Iterable<Item>,
  c: SandboxContext,
  ...keys: readonly (keyof Item & string)[]
) =>
  [...items].filter((item) =>
    keys.every((key) => c.req.query(key) === undefined || item[key] === c.req.query(key)),
  );
