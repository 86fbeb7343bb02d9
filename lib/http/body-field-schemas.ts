import * as v from 'valibot';

/** Schemas for fields of request bodies. No message repeats a value. */

/**
 * A non-empty string of at most `max` code points, which is how JSON Schema and docs/openapi.yaml count. JSON can
 * escape a lone surrogate. It is refused, because DynamoDB stores strings as UTF-8.
 */
export const text = (max: number) =>
  v.pipe(
    v.string('must be a string'),
    v.minLength(1, 'must not be empty'),
    v.maxCodePoints(max, `must have at most ${max} characters`),
    v.check((value) => value.isWellFormed(), 'must be well-formed Unicode'),
  );

/** As `text`, without control characters. A terminal, a log or a header could interpret them. */
export const line = (max: number) =>
  v.pipe(text(max), v.regex(/^\P{Cc}*$/u, 'must not contain control characters'));

/** Names that valibot skips in every object. It would never report a field with such a name. */
const skippedByValibot = ['__proto__', 'prototype', 'constructor'] as const;

const unknownField = v.never('is not a known field');

/**
 * An object with these fields and no others. Each unknown field is reported. `message` is for a value of another
 * type, and for a list, which valibot would take for an object without these fields.
 */
export const closedObject = <Entries extends v.ObjectEntries>(entries: Entries, message: string) => {
  const schema = v.objectWithRest(entries, unknownField, message);
  const run: (typeof schema)['~run'] = (dataset, config) => {
    const input = dataset.value;
    if (Array.isArray(input)) return schema['~run']({ typed: false, value: null }, config);
    const result = schema['~run'](dataset, config);
    if (typeof input !== 'object' || input === null) return result;
    const fields = input as Record<string, unknown>;
    const unknown = skippedByValibot
      .filter((name) => Object.hasOwn(fields, name))
      .flatMap((key): v.NeverIssue[] => {
        const value = fields[key];
        const { issues = [] } = unknownField['~run']({ value }, config);
        return issues.map((issue) => ({
          ...issue,
          path: [{ type: 'object', origin: 'value', input: fields, key, value }],
        }));
      });
    const [first, ...more] = [...(result.issues ?? []), ...unknown];
    return first === undefined ? result : { ...result, typed: false, issues: [first, ...more] };
  };
  return { ...schema, '~run': run };
};
