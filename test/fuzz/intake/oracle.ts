import { isUtf8 } from 'node:buffer';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { misfitsOf, operationOf, responseOf } from '../../unit/docs/openapi-document.ts';
import { hasRightCheckDigit } from '../generators/national-id.ts';
import type { RequestPlan } from '../generators/request-event.ts';

const operation = operationOf('POST /extractions');

const misfitsOfBody = misfitsOf(operation.requestBody?.content['application/json']?.schema);

const misfitsOfAnswer = new Map(
  Object.entries(operation.responses).map(([status, response]) => {
    const content = Object.entries(responseOf(response).content ?? {});
    return [status, content.map(([type, { schema }]) => [type, misfitsOf(schema)] as const)] as const;
  }),
);

type Answer = Pick<APIGatewayProxyStructuredResultV2, 'statusCode' | 'headers' | 'body'>;

/** What of an answer docs/openapi.yaml does not say. */
export const undocumentedIn = ({ statusCode, headers, body }: Answer): readonly string[] => {
  const documented = misfitsOfAnswer.get(String(statusCode));
  if (documented === undefined) return [`the status ${statusCode}`];
  const { 'content-type': type } = headers as Record<string, string>;
  const misfits = documented.find(([one]) => one === type)?.[1];
  return misfits === undefined ? [`the type ${type}`] : misfits(JSON.parse(body ?? ''));
};

export const notJson = Symbol('not JSON');

/** The JSON of a body, or `notJson`. */
export const jsonOf = (body: Buffer): unknown => {
  if (!isUtf8(body)) return notJson;
  try {
    return JSON.parse(body.toString('utf8').replace(/^\ufeff/, ''));
  } catch {
    return notJson;
  }
};

type Fields = { readonly [name: string]: unknown };
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

const hasLateDates = (action: unknown): boolean => {
  const { startDate = '', endDate = '' } = fieldsOf(fieldsOf(fieldsOf(action).params).dateRange);
  return String(startDate) > String(endDate);
};

/** The bytes that KMS would be given: credentials and session token, as one JSON text. */
export const plaintextBytes = ({ credentials, sessionToken }: Fields): number => {
  try {
    return Buffer.byteLength(JSON.stringify({ credentials, sessionToken }));
  } catch {
    // Deeper than the stack, and so of thousands of brackets.
    return Number.POSITIVE_INFINITY;
  }
};

const isHalf = (text: unknown): boolean => typeof text === 'string' && /\p{Surrogate}/u.test(text);

/** Texts that are stored or sent as they are must be text that UTF-8 can hold; raw credentials are sealed as JSON. */
const hasHalves = ({ entity, reference, credentials }: Fields): boolean =>
  [entity, reference, fieldsOf(credentials).value].some(isHalf);

/** Why a body that fits the schema is refused all the same: what docs/api.md says and JSON Schema cannot. */
const beyondTheSchema = (json: unknown): string | undefined => {
  const body = fieldsOf(json);
  if (hasHalves(body)) return 'half a character';
  if (body.method === 'consent') {
    return hasRightCheckDigit(String(body.target)) ? undefined : 'wrong check digit';
  }
  if ((body.actions as readonly unknown[]).some(hasLateDates)) return 'dates out of order';
  return plaintextBytes(body) > 4_096 ? 'too much to seal' : undefined;
};

export type Verdict = 'taken' | { readonly status: 400 | 413; readonly why: string };

/** Whether docs/openapi.yaml and docs/api.md have a request taken, by a JSON Schema validator. */
export const verdictOn = ({ body, idempotencyKey }: RequestPlan): Verdict => {
  if (idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
    return { status: 400, why: 'key' };
  }
  if (body.length > 65_536) return { status: 413, why: 'size' };
  const json = jsonOf(body);
  if (json === notJson) return { status: 400, why: 'not JSON' };
  if (misfitsOfBody(json).length > 0) return { status: 400, why: 'schema' };
  const why = beyondTheSchema(json);
  return why === undefined ? 'taken' : { status: 400, why };
};
