import * as v from 'valibot';
import { bearer } from '../transport/field-schemas.ts';
import { type Connection, exchange, type ParseBytes, parseAnswer } from '../transport/send-request.ts';
import { statusesWithoutResults } from '../vocabulary.ts';

const path = '/api/v2/tasks/{taskId}';
const answerSchema = v.object({ taskStatus: v.string(), results: v.optional(v.unknown()) });

/** `bytes` is the body as received. */
export type TaskReading = {
  readonly taskStatus: string;
  readonly results: unknown;
  readonly bytes: Uint8Array;
};

/** Parses a v2 task. Throws ProviderAmbiguous if it is none. */
export const parseTask = (bytes: Uint8Array, parse?: ParseBytes): TaskReading => {
  const { taskStatus, results } = parseAnswer(bytes, answerSchema, path, parse);
  return { taskStatus, results, bytes };
};

/**
 * Reads a v2 task ("Read task (v2)"). Only the client that started the task may read it. `results` is not validated, because the status is
 * useful without it. `readTypedTask` validates it. Throws ProviderErrors.
 */
export const readTask = async (
  connection: Connection,
  sessionToken: string,
  taskId: string,
  parse?: ParseBytes,
): Promise<TaskReading> => {
  const headers = bearer(sessionToken);
  const { bytes } = await exchange(connection, { method: 'GET', path, ids: { taskId }, headers });
  return parseTask(bytes, parse);
};

const resultsSchema = v.object({
  actions: v.pipe(
    v.array(
      v.object({ id: v.string(), status: v.string(), error: v.nullish(v.object({ code: v.string() })) }),
    ),
    // More actions than any task has, and few enough to fit into a DynamoDB item.
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
  /** `results` does not have the documented structure, which is still under development ("Versioning", rule 5). */
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
