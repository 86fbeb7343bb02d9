import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { operationOf, responseOf, violationsOf } from '../../unit/docs/openapi-document.ts';
import type { RequestPlan } from '../generators/api-event.ts';
import { hasRightCheckDigit } from '../generators/national-id.ts';
import { isHalf, jsonOf, notJson } from '../json-of-body.ts';

const { requestBody } = operationOf('POST /extractions');
const misfitsOfBody = violationsOf(requestBody?.content['application/json']?.schema);

type Answer = Pick<APIGatewayProxyStructuredResultV2, 'statusCode' | 'headers' | 'body'>;

/** For a route, the parts of an answer that docs/openapi.yaml does not define. */
export const undocumentedOf = (routeKey: string): ((answer: Answer) => readonly string[]) => {
  const misfits = new Map<string, ReturnType<typeof violationsOf>>(
    Object.entries(operationOf(routeKey).responses).flatMap(([status, response]) =>
      Object.entries(responseOf(response).content ?? {}).map(
        ([type, { schema }]) => [`${status} ${type}`, violationsOf(schema, 'closed')] as const,
      ),
    ),
  );
  return ({ statusCode, headers, body }) => {
    const answered = `${statusCode} ${headers?.['content-type']}`;
    return misfits.get(answered)?.(JSON.parse(body ?? '')) ?? [answered];
  };
};
export const undocumentedIn = undocumentedOf('POST /extractions');

type Fields = { readonly [name: string]: unknown };
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

const hasLateDates = (action: unknown): boolean => {
  const { startDate = '', endDate = '' } = fieldsOf(fieldsOf(fieldsOf(action).params).dateRange);
  return String(startDate) > String(endDate);
};

/** The bytes that KMS would be given: credentials, session token and confirmation, as one JSON text. */
export const plaintextBytes = ({ credentials, sessionToken, confirmed }: Fields): number => {
  try {
    return Buffer.byteLength(JSON.stringify({ credentials, sessionToken, confirmed }));
  } catch {
    // Deeper than the stack, and so of thousands of brackets.
    return Number.POSITIVE_INFINITY;
  }
};

/** Texts that are stored or sent as they are must be text that UTF-8 can hold; raw credentials are sealed as JSON. */
const hasHalves = ({ entity, reference, batch, credentials }: Fields): boolean =>
  [entity, reference, batch, fieldsOf(credentials).value].some(isHalf);

/** Objects and lists in each other, level by level, as the deepest would not fit a stack. */
const levelsOf = (value: unknown): number => {
  let levels = 0;
  const isInner = (one: unknown): boolean => typeof one === 'object' && one !== null;
  for (let inner = [value].filter(isInner); inner.length > 0; levels += 1) {
    inner = inner.flatMap((one) => Object.values(one as object)).filter(isInner);
  }
  return levels;
};

const mark = '\u0000number ';
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A number's text as a whole number of units of ten to the power of `places`; undefined beyond what bodies can mean. */
const scaled = (text: string, places: number): bigint | undefined => {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) - fraction.length + places;
  const units = BigInt(`${whole}${fraction}`.replace('-', ''));
  if (units === 0n) return 0n;
  if (shift < 0 || shift > 4 * places) return undefined;
  return (text.startsWith('-') ? -1n : 1n) * units * 10n ** BigInt(shift);
};

/** Whether JavaScript would write this number back as another one: compared as fractions, not as texts. */
const changes = (text: string): boolean => {
  const written = JSON.stringify(Number(text));
  // Enough for every digit of the text, and of the smallest and the largest of the floats.
  const places = text.length + 400;
  return written === 'null' || scaled(text, places) !== scaled(written, places);
};

const hasChanging = (value: unknown): boolean => {
  if (typeof value === 'string') return value.startsWith(mark) && changes(value.slice(mark.length));
  return typeof value === 'object' && value !== null && Object.values(value).some(hasChanging);
};

/** Reads the text once more with every number as a marked string, so that no parser's idea of numbers is trusted. */
const numbersChange = (body: Buffer): boolean => {
  const text = body.toString('utf8').replace(/^\ufeff/, '');
  const marked = text.replace(token, (one) => (one.startsWith('"') ? one : JSON.stringify(mark + one)));
  return hasChanging(JSON.parse(marked));
};

/** Why a body that fits the schema is refused all the same: the rules of docs/api.md that JSON Schema cannot express. */
const beyondTheSchema = (json: unknown, text: Buffer): string | undefined => {
  const body = fieldsOf(json);
  if (hasHalves(body)) return 'half a character';
  if (body.method === 'consent') {
    return hasRightCheckDigit(String(body.target)) ? undefined : 'wrong check digit';
  }
  if (levelsOf(fieldsOf(body.credentials).value) > 8) return 'too deep';
  if ((body.actions as readonly unknown[]).some(hasLateDates)) return 'dates out of order';
  if (plaintextBytes(body) > 4_096) return 'too much to seal';
  if (JSON.stringify(body.credentials).includes('\ufffd')) return 'not UTF-8 before';
  return numbersChange(text) ? 'number changes' : undefined;
};

const string = /"(?:[^"\\]|\\.)*"/g;

/** Takes the innermost objects out of the text, one after the other, until none is left, and compares the names of each. */
const hasNameTwice = (body: Buffer): boolean => {
  const unescaped = (one: string): readonly number[] =>
    [...(JSON.parse(one) as string)].map((character) => character.codePointAt(0) ?? 0);
  const text = body.toString('utf8').replace(string, (one) => `s${unescaped(one).join('_')}`);
  let twice = false;
  const withoutInner = (before: string): string =>
    before.replace(/\{[^{}]*\}/g, (object) => {
      const names = object.match(/s[\d_]*(?=\s*:)/g) ?? [];
      twice ||= new Set(names).size < names.length;
      return '0';
    });
  let left = text;
  for (let next = withoutInner(left); next !== left; next = withoutInner(left)) left = next;
  return twice;
};

type Verdict = 'accepted' | { readonly status: 400 | 413 | 501; readonly rule: string };

/** Whether docs/openapi.yaml and docs/api.md accept a request, by a JSON Schema validator. */
export const verdictOn = ({ body, idempotencyKey }: RequestPlan, consentsSetUp = true): Verdict => {
  if (idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
    return { status: 400, rule: 'key' };
  }
  if (body.length > 65_536) return { status: 413, rule: 'size' };
  const json = jsonOf(body);
  if (json === notJson) return { status: 400, rule: 'not JSON' };
  if (hasNameTwice(body)) return { status: 400, rule: 'name twice' };
  if (misfitsOfBody(json).length > 0) return { status: 400, rule: 'schema' };
  const rule = beyondTheSchema(json, body);
  if (rule !== undefined) return { status: 400, rule };
  if (fieldsOf(json).method === 'consent' && !consentsSetUp) return { status: 501, rule: 'not set up' };
  return 'accepted';
};
