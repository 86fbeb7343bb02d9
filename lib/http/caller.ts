/**
 * The IAM principal behind a request, without what changes from one of its sessions to the next: a retry from a
 * sister container bears another session name and is still the same caller.
 * `arn:aws:sts::111122223333:assumed-role/Name/session` becomes `arn:aws:sts::111122223333:assumed-role/Name`;
 * users, the account's root and federated users have no such part and stay as they are
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html).
 */
export const callerFromUserArn = (userArn: string): string => {
  const assumedRole = /^(arn:[^:]+:sts::\d*:assumed-role\/[^/]+)\/.*$/.exec(userArn);
  return assumedRole?.[1] ?? userArn;
};

/**
 * The form in which `callerOf` names a principal that is configured by its IAM ARN: a role appears to API
 * Gateway as an assumed role, without the path that its own ARN may have.
 */
export const callerFromPrincipalArn = (principalArn: string): string => {
  const role = /^arn:([^:]+):iam::(\d*):role\/(?:.*\/)?([^/]+)$/.exec(principalArn);
  if (role === null) return principalArn;
  const [, partition, account, name] = role;
  return `arn:${partition}:sts::${account}:assumed-role/${name}`;
};
