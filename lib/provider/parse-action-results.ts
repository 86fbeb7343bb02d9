import * as v from 'valibot';

const resultsSchema = v.object({
  actions: v.array(
    v.object({
      id: v.string(),
      status: v.string(),
      error: v.nullish(v.object({ code: v.string() })),
    }),
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
export const parseActionResults = (results: unknown): ParsedResults => {
  if (results === null) return { kind: 'none' };
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
