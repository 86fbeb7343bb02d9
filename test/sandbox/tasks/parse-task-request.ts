import * as v from 'valibot';
import { CredentialsSchema } from '../credentials/read-credentials.ts';
import { type ParsedBody, readJson } from '../transport/read-json.ts';

const isRealDay = (text: string): boolean => {
  const date = new Date(`${text}T00:00:00Z`);
  // Date turns 2026-02-30 into 2026-03-02.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
};

/** YYYY-MM-DD ("Limits"), and a day that exists. */
const day = v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}$/), v.check(isRealDay));

const action = v.variant('id', [
  v.strictObject({
    id: v.literal('movement'),
    params: v.strictObject({ dateRange: v.strictObject({ startDate: day, endDate: day }) }),
  }),
  // These do not accept `params`.
  v.strictObject({ id: v.literal('product-balance') }),
  v.strictObject({ id: v.literal('tef') }),
]);

/** "v2 task request". Strict: undocumented fields are refused. */
const TaskRequestSchema = v.strictObject({
  entity: v.pipe(v.string(), v.minLength(1)),
  credentials: CredentialsSchema,
  actions: v.pipe(v.array(action), v.minLength(1)),
  webhook: v.exactOptional(
    v.strictObject({
      enable: v.boolean(),
      retries: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)), 3),
    }),
  ),
});
export type TaskRequest = v.InferOutput<typeof TaskRequestSchema>;

export const parseTaskRequest = (body: string): ParsedBody<TaskRequest> => readJson(body, TaskRequestSchema);
