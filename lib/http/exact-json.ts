/** Stands in place of a number whose value would change. A symbol, as no schema takes one for a value of JSON. */
const changedNumber = Symbol('a number that would change');

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** The number in a text, in one spelling: `100`, `1e2` and `100.0` are all `1e2`. Undefined where there is none. */
const numberIn = (text: string): string | undefined => {
  const match = decimal.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`;
  const first = digits.search(/[1-9]/);
  if (first === -1) return '0';
  // Not by a pattern: /0+$/ takes a time that grows with the square of the zeros.
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return `${sign}${digits.slice(first, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
};

/** Whether a number that was read from `source`, and is written again, still has the value of `source`. */
const keepsItsValue = (value: number, source: string): boolean => {
  const written = JSON.stringify(value);
  return Number.isFinite(value) && (written === source || numberIn(written) === numberIn(source));
};

/** TypeScript does not know the third argument yet (https://tc39.es/proposal-json-parse-with-source/). */
const markChanged = (_name: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' && !keepsItsValue(value, context?.source ?? '') ? changedNumber : value;

/**
 * JSON.parse, in whose result `findChangedNumbers` finds each number that JavaScript would write back with another value:
 * too many digits, too large, too small. Throws SyntaxError and, for a text that is nested deeper than the stack, RangeError.
 */
export const parseExactJson = (text: string): unknown => JSON.parse(text, markChanged);

type Place = { readonly value: unknown; readonly name?: string; readonly parent?: Place };

const pathTo = ({ name, parent }: Place): readonly string[] =>
  name === undefined || parent === undefined ? [] : [...pathTo(parent), name];

/** More than anybody reads; a path may be as long as the body is. */
const mostFound = 50;

/** Where such numbers are in a result of `parseExactJson`, as names from the outside in; the first 50 of them. */
export const findChangedNumbers = (json: unknown): readonly (readonly string[])[] => {
  const found: (readonly string[])[] = [];
  const waiting: Place[] = [{ value: json }];
  while (found.length < mostFound) {
    const place = waiting.pop();
    if (place === undefined) break;
    const { value } = place;
    if (value === changedNumber) found.push(pathTo(place));
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value).reverse()) {
      waiting.push({ value: member, name, parent: place });
    }
  }
  return found;
};
