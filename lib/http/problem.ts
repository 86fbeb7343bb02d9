import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { BodyViolation } from './body-fields.ts';

/** The status and title of all problem types. `docs/api.md` explains each type. */
const problems = {
  'invalid-request': [400, 'The request is not valid.'],
  unauthorized: [401, 'The request could not be authenticated.'],
  'caller-not-supported': [403, 'This kind of caller is not supported.'],
  'not-found': [404, 'There is no such extraction.'],
  'consent-not-found': [404, 'The user has no such consent.'],
  'erasure-not-found': [404, 'There is no such erasure.'],
  'provider-forbids': [403, 'The provider does not allow this.'],
  'consent-conflict': [409, 'The consent is not in a state that allows this.'],
  'too-large': [413, 'The request is too large.'],
  'idempotency-key-reused': [422, 'The idempotency key was used for another request.'],
  'idempotency-key-blocked': [429, 'The idempotency key was used for too many other requests.'],
  'provider-refused': [422, 'The provider does not accept this request.'],
  'provider-failed': [502, 'The provider gave no usable answer.'],
  'setting-missing': [501, 'This deployment lacks a setting that the request needs.'],
  unavailable: [503, 'The service cannot answer now. Try again.'],
  internal: [500, 'Something went wrong on our side. Try again.'],
} as const;

type ProblemType = keyof typeof problems;

export const problemTypes = Object.keys(problems) as readonly ProblemType[];

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
    retryAfter = problems[type][0] === 503 ? 5 : undefined,
  }: {
    readonly detail?: string;
    readonly errors?: readonly BodyViolation[];
    readonly retryAfter?: number;
  } = {},
): APIGatewayProxyStructuredResultV2 => {
  const [status, title] = problems[type];
  return {
    statusCode: status,
    headers: {
      'content-type': 'application/problem+json',
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    },
    body: JSON.stringify({
      type: problemUri(type),
      title,
      status,
      detail,
      errors: errors?.slice(0, maxErrors),
    }),
  };
};
