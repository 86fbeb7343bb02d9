import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { problem } from './problem.ts';

/**
 * Returns the IAM principal of a request's `userArn`, without the session name. A retry from another container has another session name,
 * and comes from the same caller. `arn:aws:sts::111122223333:assumed-role/Name/session` becomes
 * `arn:aws:sts::111122223333:assumed-role/Name`. ARNs of users and the root user have no session name and stay unchanged
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html).
 */
export const callerFromUserArn = (userArn: string): string => {
  const assumedRole = /^(arn:[^:]+:sts::\d*:assumed-role\/[^/]+)\/.*$/.exec(userArn);
  return assumedRole?.[1] ?? userArn;
};

/**
 * Returns what `callerFromUserArn` returns for the principal with this IAM ARN. API Gateway reports a role as an assumed role, without the
 * path in the role's own ARN.
 */
export const callerFromPrincipalArn = (principalArn: string): string => {
  const role = /^arn:([^:]+):iam::(\d*):role\/(?:.*\/)?([^/]+)$/.exec(principalArn);
  if (role === null) return principalArn;
  const [, partition, account, name] = role;
  return `arn:${partition}:sts::${account}:assumed-role/${name}`;
};

/** The part of an API Gateway event that names the caller of a route with IAM authorization. */
export type CallerContext = { readonly authorizer?: { readonly iam?: { readonly userArn?: string } } };

export type IdentifiedCaller =
  | { readonly kind: 'caller'; readonly caller: string }
  | { readonly kind: 'refused'; readonly answer: APIGatewayProxyStructuredResultV2 };

/** `arn:aws:sts::111122223333:federated-user/name`: https://docs.aws.amazon.com/STS/latest/APIReference/API_GetFederationToken.html */
const federatedUser = /^arn:[^:]+:sts::\d*:federated-user\//;

const useAnother =
  'Each user of GetFederationToken chooses the name of its federated user, so it identifies nobody. Sign with a role or an IAM user.';

/**
 * The IAM principal that signed a request, without the session name. API Gateway refuses every unsigned request. So there is none only if
 * the route has lost its authorizer, or on an emulator that does not check signatures. A federated user is refused, because anybody who may
 * call GetFederationToken could choose the name of another one.
 */
export const identifyCaller = ({ authorizer }: CallerContext): IdentifiedCaller => {
  const userArn = authorizer?.iam?.userArn;
  if (userArn === undefined) return { kind: 'refused', answer: problem('unauthorized') };
  if (federatedUser.test(userArn)) {
    return { kind: 'refused', answer: problem('caller-not-supported', { detail: useAnother }) };
  }
  return { kind: 'caller', caller: callerFromUserArn(userArn) };
};

/** A `traceparent` of any version: trace id, parent id and flags, in lower case. A later version may have more after a dash. */
const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

const isZero = (id: string): boolean => /^0+$/.test(id);

/**
 * Returns a caller's `traceparent` as version 00 (W3C Trace Context, https://www.w3.org/TR/trace-context-1/#traceparent-header). Undefined
 * if it is absent or invalid. The request is valid even so, and only the trace is not continued. Of a later version, only the ids and the
 * flag `sampled` are known. API Gateway joins repeated headers by a comma, which is invalid.
 */
export const parseTraceparent = (header: string | undefined): string | undefined => {
  const [, version = '', traceId = '', parentId = '', flags = '', more] = form.exec(header ?? '') ?? [];
  if (traceId === '' || version === 'ff' || isZero(traceId) || isZero(parentId)) return undefined;
  if (version === '00') return more === undefined ? header : undefined;
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return `00-${traceId}-${parentId}-${isSampled ? '01' : '00'}`;
};
