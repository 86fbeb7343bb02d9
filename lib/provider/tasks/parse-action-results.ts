import * as v from 'valibot';
import { statusesWithoutResults } from '../vocabulary.ts';

const resultsSchema = v.object({
  actions: v.pipe(
    v.array(
      v.object({ id: v.string(), status: v.string(), error: v.nullish(v.object({ code: v.string() })) }),
    ),
    // More than any task has, and few enough to fit into a DynamoDB item.
    v.maxLength(50),
  ),
});

type ParsedResults =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'actions';
      readonly actions: readonly {
        readonly id: string;
        readonly status: string;
        readonly errorCode?: string;
      }[];
    }
  /** Not the documented structure, which is still under development ("Versioning", rule 5). */
  | { readonly kind: 'unexpected' };

/**
 * Returns the provider's status and error code of each action in `results` of a v2 task, without output and message.
 */
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
