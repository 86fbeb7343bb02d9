/**
 * Returns the IAM principal of a request's `userArn`, without the session name. A retry from another container has
 * another session name and is still the same caller.
 * `arn:aws:sts::111122223333:assumed-role/Name/session` becomes `arn:aws:sts::111122223333:assumed-role/Name`. The
 * ARNs of users, the root user and federated users have no session name and stay unchanged
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html).
 */
export const callerFromUserArn = (userArn: string): string => {
  const assumedRole = /^(arn:[^:]+:sts::\d*:assumed-role\/[^/]+)\/.*$/.exec(userArn);
  return assumedRole?.[1] ?? userArn;
};

/**
 * Returns what `callerFromUserArn` returns for a principal with this IAM ARN. API Gateway reports a role as an
 * assumed role, without the path in the role's own ARN.
 */
export const callerFromPrincipalArn = (principalArn: string): string => {
  const role = /^arn:([^:]+):iam::(\d*):role\/(?:.*\/)?([^/]+)$/.exec(principalArn);
  if (role === null) return principalArn;
  const [, partition, account, name] = role;
  return `arn:${partition}:sts::${account}:assumed-role/${name}`;
};

/** The part of an API Gateway event that names the caller of a route with IAM authorization. */
export type CallerContext = { readonly authorizer?: { readonly iam?: { readonly userArn?: string } } };

/**
 * The IAM principal that signed a request, without the session name. API Gateway refuses every other request, so it is
 * undefined only if the route has lost its authorizer, or on an emulator that does not check signatures.
 */
export const callerOf = ({ authorizer }: CallerContext): string | undefined => {
  const userArn = authorizer?.iam?.userArn;
  return userArn === undefined ? undefined : callerFromUserArn(userArn);
};
