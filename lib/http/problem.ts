import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { BodyViolation } from './body-fields.ts';

/** The titles of all problem types. `docs/api.md` explains each type. */
const titles = {
  'invalid-request': 'The request is not valid.',
  unauthorized: 'The request could not be authenticated.',
  'caller-not-supported': 'This kind of caller is not supported.',
  'not-found': 'There is no such extraction.',
  'consent-not-found': 'The user has no such consent.',
  'erasure-not-found': 'There is no such erasure.',
  'provider-forbids': 'The provider does not allow this.',
  'consent-conflict': 'The consent is not in a state that allows this.',
  'too-large': 'The request is too large.',
  'idempotency-key-reused': 'The idempotency key was used for another request.',
  'idempotency-key-blocked': 'The idempotency key was used for too many other requests.',
  'provider-refused': 'The provider does not accept this request.',
  'provider-failed': 'The provider gave no usable answer.',
  'setting-missing': 'This deployment lacks a setting that the request needs.',
  unavailable: 'The service cannot answer now. Try again.',
  internal: 'Something went wrong on our side. Try again.',
} as const;

const statuses = {
  'invalid-request': 400,
  unauthorized: 401,
  'caller-not-supported': 403,
  'not-found': 404,
  'consent-not-found': 404,
  'erasure-not-found': 404,
  'provider-forbids': 403,
  'consent-conflict': 409,
  'too-large': 413,
  'idempotency-key-reused': 422,
  'idempotency-key-blocked': 429,
  'provider-refused': 422,
  'provider-failed': 502,
  'setting-missing': 501,
  unavailable: 503,
  internal: 500,
} as const;

export type ProblemType = keyof typeof titles;

export const problemTypes = Object.keys(titles) as readonly ProblemType[];

/** Absolute, because a relative URI would be resolved against the request's URL (RFC 9457, section 3.1.1). */
export const problemUri = (type: ProblemType): string => `urn:cosecha:problem:${type}`;

/** The most errors in an answer. With pointers of 500 bytes and our longest detail, they have less than 64 KB. */
const maxErrors = 50;

/** An RFC 9457 answer with the first 50 errors. `detail` must not contain a value of the request. `retryAfter` is in seconds. */
export const problem = (
  type: ProblemType,
  {
    detail,
    errors,
    retryAfter = statuses[type] === 503 ? 5 : undefined,
  }: {
    readonly detail?: string;
    readonly errors?: readonly BodyViolation[];
    readonly retryAfter?: number;
  } = {},
): APIGatewayProxyStructuredResultV2 => ({
  statusCode: statuses[type],
  headers: {
    'content-type': 'application/problem+json',
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
  },
  body: JSON.stringify({
    type: problemUri(type),
    title: titles[type],
    status: statuses[type],
    detail,
    errors: errors?.slice(0, maxErrors),
  }),
});
