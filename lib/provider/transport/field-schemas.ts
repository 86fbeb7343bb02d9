import * as v from 'valibot';
import { consentIdPattern, taskIdLength } from '../assumptions.ts';
import { isNationalId } from '../national-id.ts';
import { isTaskId } from '../tasks/task-id.ts';
import { productTypes } from '../vocabulary.ts';
import { InvalidProviderRequest } from './errors.ts';

/** Replaces messages of valibot, which quote the value. Messages of our schemas do not. */
const ruleOf = (issue: v.BaseIssue<unknown>): string => {
  if (issue.received === 'undefined') return 'is required';
  return issue.message.startsWith('Invalid ') ? 'is not valid' : issue.message;
};

/**
 * Validates a request before it is sent. Throws InvalidProviderRequest with every violation. A field that the schema does not name is
 * accepted, because an entity or a later version may need it.
 */
export const checkRequest = (schema: v.GenericSchema, request: unknown, path: string): void => {
  const parsed = v.safeParse(schema, request);
  if (parsed.success) return;
  const violations = parsed.issues.map((issue) => ({
    path: v.getDotPath(issue) ?? '',
    rule: ruleOf(issue),
  }));
  throw new InvalidProviderRequest(path, violations);
};

/** Schemas for fields of several requests. No message repeats a value. */

export const textField = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'));

export const consentIdField = v.pipe(
  v.string('must be a string'),
  v.regex(consentIdPattern, 'must be the id of a consent'),
);

/** `.` and `..` would lead to another path, even if encoded (URL standard, "double-dot path segment"). */
export const idsInPath = v.object({
  consentId: v.exactOptional(consentIdField),
  taskId: v.exactOptional(
    v.pipe(
      v.string('must be a string'),
      v.check(
        (id: string) => isTaskId(id),
        `must have ${taskIdLength.min} to ${taskIdLength.max} characters that fit into a path`,
      ),
    ),
  ),
});

export const nationalIdField = v.pipe(
  v.string('must be a string'),
  v.check(isNationalId, 'must be a national id with its check digit'),
);

export const productField = v.picklist(productTypes, `must be one of ${productTypes.join(', ')}`);

export const positiveInteger = v.pipe(
  v.number('must be a number'),
  v.integer('must be whole'),
  v.minValue(1, 'must be at least 1'),
);

/** `new Date('2026-02-30')` becomes a day in March, so a day exists only if it survives the round trip. */
const isRealDay = (day: string): boolean => {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
};

export const dayField = v.config(
  v.pipe(
    v.string('must be a string'),
    v.regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date in the form YYYY-MM-DD'),
    v.check(isRealDay, 'must be a date that exists'),
  ),
  { abortPipeEarly: true },
);

/** Schemas for fields of several answers. */

/**
 * A token or an id. It must not be empty. JSON can escape a lone surrogate, which fits into no header and no URL, so it
 * is refused.
 */
export const answerText = v.pipe(
  v.string(),
  v.minLength(1),
  v.check((text) => text.isWellFormed()),
);

export const answerTaskId = v.custom<string>(isTaskId);

/** Product data. Its items depend on the product, and two of them are shown (`product-item-guards.ts`). */
export const productData: v.GenericSchema<unknown, readonly unknown[]> = v.array(v.unknown());

/** Returns the header `Authorization`, for a session token or a Task Token. */
export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
