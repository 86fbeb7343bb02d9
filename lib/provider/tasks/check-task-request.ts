import * as v from 'valibot';
import { checkRequest } from '../transport/check-request.ts';
import { dayField, positiveInteger, textField } from '../transport/request-field-schemas.ts';
import { taskActionIds } from '../vocabulary.ts';

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

const action = v.variant(
  'id',
  [
    v.object({
      id: v.literal('movement'),
      params: v.object({ dateRange }, 'must be an object with a dateRange'),
    }),
    v.object({
      id: v.picklist(['tef', 'product-balance']),
      params: v.optional(v.undefined_('is not accepted by this action')),
    }),
  ],
  `must have an id of ${taskActionIds.join(', ')}`,
);

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

const schema = v.object(
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
export const checkTaskRequest = (request: unknown): void => checkRequest(schema, request, '/api/v2/tasks');
