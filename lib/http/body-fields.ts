import * as v from 'valibot';

/** Fields that bodies of several routes are made of. No sentence repeats a value. */

/**
 * Lengths are in characters, code points, as JSON Schema counts them and so as docs/openapi.yaml says. Half a
 * character, which JSON can write as an escape, is none: DynamoDB's strings are UTF-8, which cannot hold it.
 */
export const text = (max: number) =>
  v.pipe(
    v.string('must be a string'),
    v.minLength(1, 'must not be empty'),
    v.maxCodePoints(max, `must have at most ${max} characters`),
    v.check((value) => value.isWellFormed(), 'must be well-formed Unicode'),
  );

/**
 * A text of one line, for what is stored, shown or passed on. A control character means nothing in it, and steers the
 * terminal, the log or the header that it reaches.
 */
export const line = (max: number) =>
  v.pipe(text(max), v.regex(/^\P{Cc}*$/u, 'must not contain control characters'));

/** Names that valibot passes over wherever it goes through an object, so that a field of them is never unknown. */
const skippedByValibot = ['__proto__', 'prototype', 'constructor'] as const;

const unknownField = v.never('is not a known field');

/** An object with these fields and no others; every other one is a violation, not only the first. */
export const closedObject = <Entries extends v.ObjectEntries>(entries: Entries, message: string) => {
  const schema = v.objectWithRest(entries, unknownField, message);
  const run: (typeof schema)['~run'] = (dataset, config) => {
    const input = dataset.value;
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
