import * as v from 'valibot';
import { statusesWithTexts } from '../assumptions.ts';
import { encryptCredentials } from '../encrypt-and-decrypt.ts';
import { explainLegacyRefusal } from '../transport/explain-refusal.ts';
import {
  answerTaskId,
  bearer,
  checkRequest,
  dayField,
  positiveInteger,
  textField,
} from '../transport/field-schemas.ts';
import { type Connection, type ProviderRequest, requestAnswer } from '../transport/send-request.ts';
import { taskActions } from '../vocabulary.ts';

const path = '/api/v2/tasks';

/** "Credentials". `raw` is an object of entity-specific fields. The other two are ciphertext. */
export type Credentials =
  | { readonly mode: 'raw'; readonly value: { readonly [field: string]: unknown } }
  | { readonly mode: 'encrypted'; readonly value: string }
  | { readonly mode: 'persisted'; readonly value: string };

/** "v2 task request". */
export type TaskRequest = {
  readonly entity: string;
  readonly credentials: Credentials;
  readonly actions: readonly {
    readonly id: string;
    readonly params?: { readonly dateRange: { readonly startDate: string; readonly endDate: string } };
  }[];
  readonly webhook?: { readonly enable: boolean; readonly retries?: number };
};

const dateRange = v.pipe(
  v.object({ startDate: dayField, endDate: dayField }, 'must be an object with startDate and endDate'),
  v.forward(
    v.check(({ startDate, endDate }) => startDate <= endDate, 'must not be before startDate'),
    ['endDate'],
  ),
);

const withDateRange = v.object({ dateRange }, 'must be an object with a dateRange');

const paramsSchemas = {
  dateRange: withDateRange,
  none: v.optional(v.undefined_('is not accepted by this action')),
  unknown: v.optional(withDateRange),
} as const;

const isListed = (id: unknown): id is keyof typeof taskActions =>
  typeof id === 'string' && Object.hasOwn(taskActions, id);

/** An id that the document does not list is accepted, because the provider adds actions. It may have no params, or a `dateRange`. */
const action = v.lazy((input) => {
  const { id } = (input ?? {}) as { readonly id?: unknown };
  const params = paramsSchemas[isListed(id) ? taskActions[id] : 'unknown'];
  return v.object({ id: textField, params }, 'must be an object with an id');
});

const credentials = v.variant(
  'mode',
  [
    v.object({
      mode: v.literal('raw'),
      // The fields depend on the entity and are not shown.
      value: v.custom<object>(
        (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
        'must be an object',
      ),
    }),
    v.object({ mode: v.picklist(['encrypted', 'persisted']), value: textField }),
  ],
  'must have a mode of raw, encrypted or persisted',
);

const requestSchema = v.object(
  {
    entity: textField,
    credentials,
    actions: v.pipe(v.array(action, 'must be a list'), v.minLength(1, 'must have at least one action')),
    webhook: v.optional(
      v.object({
        enable: v.boolean('must be true or false'),
        retries: v.optional(v.pipe(positiveInteger, v.maxValue(5, 'must be at most 5'))),
      }),
    ),
  },
  'must be an object',
);

/** Validates a request against "v2 task request". Throws InvalidProviderRequest. */
export const checkTaskRequest = (request: unknown): void => checkRequest(requestSchema, request, path);

/**
 * Returns the request with its raw credentials encrypted under the session token that it will be sent with. Other
 * credentials stay unchanged. Call it again for each token, because the token is the key.
 */
export const encryptRawCredentials = (
  request: TaskRequest,
  sessionToken: string,
  iv?: Uint8Array,
): TaskRequest => {
  const { credentials } = request;
  if (credentials.mode !== 'raw') return request;
  const value = encryptCredentials(credentials.value, sessionToken, iv);
  return { ...request, credentials: { mode: 'encrypted', value } };
};

const answerSchema = v.object({ taskId: answerTaskId });

/**
 * Starts a v2 task ("Start task (v2)") and returns its taskId. The call is not idempotent. After ProviderAmbiguous or
 * ProviderAnswerTooLarge a task may exist, so never repeat the call. A 2xx without a valid taskId is ProviderAmbiguous. If the connection
 * has `encryptRawCredentials`, raw credentials are encrypted here, because the session token of the call is the key. Throws
 * InvalidProviderRequest before anything is sent. If the answer is not 2xx, `whenRefused` is called before its body is read. An error for a
 * documented text has the text's name in `refusal`.
 */
export const startTask = async (
  connection: Connection,
  sessionToken: string,
  request: TaskRequest,
  { whenRefused }: Pick<ProviderRequest, 'whenRefused'> = {},
): Promise<string> => {
  checkTaskRequest(request);
  const { taskId } = await requestAnswer(connection, answerSchema, {
    method: 'POST',
    path,
    headers: bearer(sessionToken),
    body: connection.encryptRawCredentials === true ? encryptRawCredentials(request, sessionToken) : request,
    explain: explainLegacyRefusal,
    explainOnly: statusesWithTexts.task,
    whenRefused,
  });
  return taskId;
};
