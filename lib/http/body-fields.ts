import * as v from 'valibot';

/** One rule that a request body breaks, and where. `detail` never repeats a value of the request. */
export type BodyViolation = {
  /** JSON pointer (RFC 6901) into the request body, and empty for the body as a whole. */
  readonly pointer: string;
  readonly detail: string;
};

/** The JSON pointer for a path of names. The outermost name is first. */
export const pointerTo = (names: readonly unknown[]): string =>
  names.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The longest pointer in an answer, in bytes of JSON in UTF-8. A body of 64 KB can have a name of 64 KB, or thousands of levels. */
const maxPointerBytes = 500;

const fits = (pointer: string): boolean => Buffer.byteLength(JSON.stringify(pointer)) <= maxPointerBytes;

/** A violation at a path of names, the outermost first. If its pointer would be too long, it is shortened to an enclosing value. */
export const violationAt = (names: readonly unknown[], detail: string): BodyViolation => {
  let pointer = '';
  for (const name of names) {
    const next = `${pointer}${pointerTo([name])}`;
    if (!fits(next)) {
      return {
        pointer,
        detail: `${detail} (inside of this value, at a pointer of over ${maxPointerBytes} bytes)`,
      };
    }
    pointer = next;
  }
  return { pointer, detail };
};

/** Replaces messages of valibot, which quote the value. Messages of our schemas do not. */
const detailOf = (issue: v.BaseIssue<unknown>): string => {
  if (issue.type === 'object_with_rest' && issue.received === 'undefined') return 'is required';
  if (issue.type === 'variant' && issue.path?.at(-1)?.key === 'mode') {
    return 'must be raw, encrypted or persisted';
  }
  if (/^Invalid /.test(issue.message)) return 'is not valid here';
  return issue.message;
};

/** @internal Converts an issue of valibot into a violation for the caller. */
export const violationOf = (issue: v.BaseIssue<unknown>): BodyViolation =>
  violationAt(
    (issue.path ?? []).map(({ key }) => key),
    detailOf(issue),
  );

/** Schemas for fields of request bodies. No message repeats a value. */

/**
 * @internal Left out of the published types, which then need no valibot.
 *
 * A non-empty string of at most `max` code points, as JSON Schema and docs/openapi.yaml count. A lone surrogate, which JSON can escape, is
 * refused, because DynamoDB stores strings as UTF-8.
 */
export const text = (max: number) =>
  v.pipe(
    v.string('must be a string'),
    v.minLength(1, 'must not be empty'),
    v.maxCodePoints(max, `must have at most ${max} characters`),
    v.check((value) => value.isWellFormed(), 'must be well-formed Unicode'),
  );

/** @internal As `text`, without control characters. A terminal, a log or a header could interpret them. */
export const line = (max: number) =>
  v.pipe(text(max), v.regex(/^\P{Cc}*$/u, 'must not contain control characters'));

/** Names that valibot skips in every object, so that it would never report them. */
const skippedByValibot = ['__proto__', 'prototype', 'constructor'] as const;

const unknownField = v.never('is not a known field');

/**
 * @internal An object with these fields and no others. Each unknown field is reported. `message` is for a value of another type. It is also
 * for a list, which valibot would accept as an object without these fields.
 */
export const closedObject = <Entries extends v.ObjectEntries>(
  entries: Entries,
  message = 'must be an object',
) => {
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
