import * as v from 'valibot';
import { statusesWithoutResults } from './vocabulary.ts';

/**
 * A code, a status, an id: words. What is longer is something else in their place, and would be stored and shown
 * with them; fifty of the longest stay far below the 400 KB of a DynamoDB item.
 */
const word = v.pipe(v.string(), v.maxLength(100));

const resultsSchema = v.object({
  actions: v.pipe(
    v.array(v.object({ id: word, status: word, error: v.nullish(v.object({ code: word })) })),
    v.maxLength(50),
  ),
});

export type ParsedResults =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'actions';
      readonly actions: readonly {
        readonly id: string;
        readonly status: string;
        readonly errorCode?: string;
      }[];
    }
  /** The structure is still under development at the provider ("Versioning", rule 5). */
  | { readonly kind: 'unexpected' };

/** What `results` of a v2 task says of each action, without output and message. Unknown codes pass as given. */
export const parseActionResults = (taskStatus: string, results: unknown): ParsedResults => {
  if (results === null && statusesWithoutResults.includes(taskStatus)) return { kind: 'none' };
  const parsed = v.safeParse(resultsSchema, results);
  if (!parsed.success) return { kind: 'unexpected' };
  return {
    kind: 'actions',
    actions: parsed.output.actions.map(({ id, status, error }) => ({
      id,
      status,
      ...(error == null ? {} : { errorCode: error.code }),
    })),
  };
};
