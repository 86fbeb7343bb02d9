import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { type BodyViolation, violationAt } from './body-fields.ts';
import { problem } from './problem.ts';

/** Replaces a number that JavaScript would change. It is a symbol, because no schema accepts one. */
const changedNumber = Symbol('a number that would change');

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** Normalizes a number: `100`, `1e2` and `100.0` all become `1e2`. Returns undefined if the text is not a number. */
const numberIn = (text: string): string | undefined => {
  const match = decimal.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`;
  const first = digits.search(/[1-9]/);
  if (first === -1) return '0';
  // A loop is used because the time of /0+$/ grows with the square of the number of zeros.
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return `${sign}${digits.slice(first, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
};

/** Whether JSON.stringify writes a number that was parsed from `source` with the same value. */
const keepsItsValue = (value: number, source: string): boolean => {
  const written = JSON.stringify(value);
  return Number.isFinite(value) && (written === source || numberIn(written) === numberIn(source));
};

/** TypeScript does not declare the third argument yet (https://tc39.es/proposal-json-parse-with-source/). */
const markChanged = (_name: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' && !keepsItsValue(value, context?.source ?? '') ? changedNumber : value;

/**
 * Parses JSON so that `findChangedNumbers` can find each number that JavaScript cannot represent, because it has too many digits or is too
 * large or too small. Throws SyntaxError, and RangeError for a text that is nested deeper than the stack.
 */
export const parseExactJson = (text: string): unknown => JSON.parse(text, markChanged);

type JsonNode = { readonly value: unknown; readonly name?: string; readonly parent?: JsonNode };

const pathTo = ({ name, parent }: JsonNode): readonly string[] =>
  name === undefined || parent === undefined ? [] : [...pathTo(parent), name];

/** The most violations that are returned, which is enough for a caller to fix the request. Each path can be as long as the body. */
const maxFound = 50;

/** Returns the paths of the first 50 members that `isSought` accepts. In a path, the outermost name is first. */
const findMembers = (
  json: unknown,
  isSought: (value: unknown, name: string) => boolean,
): readonly (readonly string[])[] => {
  const found: (readonly string[])[] = [];
  const waiting: JsonNode[] = [{ value: json }];
  while (found.length < maxFound) {
    const node = waiting.pop();
    if (node === undefined) break;
    const { value, name = '' } = node;
    if (isSought(value, name)) found.push(pathTo(node));
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value).reverse()) {
      waiting.push({ value: member, name, parent: node });
    }
  }
  return found;
};

/** Returns the paths of the first 50 changed numbers in a result of `parseExactJson`. */
export const findChangedNumbers = (json: unknown): readonly (readonly string[])[] =>
  findMembers(json, (value) => value === changedNumber);

/**
 * U+FFFD, which a decoder, such as API Gateway's, writes in place of bytes that are not UTF-8
 * (https://encoding.spec.whatwg.org/#error-mode).
 */
const replacement = '\ufffd';

/** Returns the paths of the first 50 texts or names with a replacement character, because they were not UTF-8. */
export const findReplacedText = (json: unknown): readonly (readonly string[])[] =>
  findMembers(
    json,
    (value, name) => name.includes(replacement) || (typeof value === 'string' && value.includes(replacement)),
  );

/** Matches a string, with the colon after it if it is a name, and a bracket or comma outside of strings. */
const jsonToken = /("[^"\\]*(?:\\.[^"\\]*)*")\s*(:?)|[{}[\],]/g;

/**
 * Returns the paths of the first 50 names that occur twice in one object of a valid JSON text. `JSON.parse` keeps the last one, and other
 * parsers the first (RFC 8259, section 4), so it is unknown which one the caller meant.
 */
export const findDuplicateNames = (text: string): readonly (readonly string[])[] => {
  const found: (readonly string[])[] = [];
  /** The open objects and lists, each with its names and the name or index that is read now. */
  const open: { readonly names: Set<string>; at: string | number }[] = [];
  for (const [token, literal = '', colon] of text.matchAll(jsonToken)) {
    const inner = open.at(-1);
    if (token === '{' || token === '[') open.push({ names: new Set(), at: token === '[' ? 0 : '' });
    else if (token === '}' || token === ']') open.pop();
    else if (inner === undefined) continue;
    else if (token === ',' && typeof inner.at === 'number') inner.at += 1;
    else if (colon === ':') {
      inner.at = JSON.parse(literal) as string;
      if (inner.names.has(inner.at)) found.push(open.map(({ at }) => String(at)));
      if (found.length === maxFound) break;
      inner.names.add(inner.at);
    }
  }
  return found;
};

type ParsedRequestBody =
  | { readonly kind: 'json'; readonly json: unknown }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'not-json' }
  | { readonly kind: 'ambiguous'; readonly violations: readonly BodyViolation[] };

/**
 * Parses the body of an API Gateway event as JSON. `findChangedNumbers` finds the numbers that would change. `limit` is in bytes after
 * base64 decoding. JSON with thousands of nested levels is `not-json` (RFC 8259, section 9). A name that occurs twice in an object makes it
 * `ambiguous`.
 */
export const parseRequestBody = (
  event: { readonly body?: string | undefined; readonly isBase64Encoded?: boolean },
  limit: number,
): ParsedRequestBody => {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded === true ? 'base64' : 'utf8');
  if (bytes.byteLength > limit) return { kind: 'too-large' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const json = parseExactJson(text);
    const twice = findDuplicateNames(text);
    if (twice.length === 0) return { kind: 'json', json };
    const detail = 'must occur once in its object';
    return { kind: 'ambiguous', violations: twice.map((path) => violationAt(path, detail)) };
  } catch {
    return { kind: 'not-json' };
  }
};

/** The answer to a body that is not one JSON text. */
export const refuseBody = (
  body: Exclude<ParsedRequestBody, { readonly kind: 'json' }>,
  limit: number,
): APIGatewayProxyStructuredResultV2 => {
  if (body.kind === 'too-large') {
    return problem('too-large', { detail: `The body must have at most ${limit} bytes.` });
  }
  if (body.kind === 'ambiguous') return problem('invalid-request', { errors: body.violations });
  return problem('invalid-request', {
    detail: 'The body must be JSON in UTF-8, and not thousands of levels deep.',
  });
};
