import { type IAMClient, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { DescribeKeyCommand, type KMSClient } from '@aws-sdk/client-kms';
import { formatSeconds } from '../terminal/format-seconds.ts';
import { failed, passed } from './finding.ts';

/** Fails where a key cannot be used, or will be deleted. `keys` are ARNs, by what the keys are called. */
export const checkKeys = async (client: KMSClient, keys: Readonly<Record<string, string>>, now: Date) => {
  const found = await Promise.all(
    Object.entries(keys).map(async ([label, KeyId]) => {
      const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId }));
      const { KeyState: state = 'unknown', DeletionDate: deletedAt } = KeyMetadata ?? {};
      return { label, KeyId, state, deletedAt };
    }),
  );
  const unusable = found.filter(({ state }) => state !== 'Enabled');
  const [first] = unusable;
  if (first === undefined) return passed(`${found.map(({ label }) => label).join(' and ')} are Enabled`);
  const when = (deletedAt: Date | undefined): string =>
    deletedAt === undefined
      ? ''
      : `, to be deleted in ${formatSeconds((deletedAt.getTime() - now.getTime()) / 1_000)}`;
  const cancel =
    first.deletedAt === undefined ? '' : `aws kms cancel-key-deletion --key-id ${first.KeyId} && `;
  return failed(
    unusable.map(({ label, state, deletedAt }) => `${label} is ${state}${when(deletedAt)}`).join('; '),
    `Without it nothing can be read or started, and what it encrypted is lost once it is deleted. Run ${cancel}aws kms enable-key --key-id ${first.KeyId}`,
  );
};

/**
 * Fails where the permissions boundary of the roles does not allow the use of the seal key. The key's policy names the roles, and a
 * boundary limits that, too (https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html). All roles have the
 * same one, so this reads that of one role.
 */
export const checkBoundary = async (client: IAMClient, roleArn: string, sealKeyArn: string) => {
  const { EvaluationResults = [] } = await client.send(
    new SimulatePrincipalPolicyCommand({
      PolicySourceArn: roleArn,
      ActionNames: ['kms:Encrypt', 'kms:Decrypt'],
      ResourceArns: [sealKeyArn],
    }),
  );
  const decisions = EvaluationResults.map((result) => ({
    action: result.EvalActionName ?? '',
    boundary: (result.ResourceSpecificResults?.[0] ?? result).PermissionsBoundaryDecisionDetail,
  }));
  if (decisions.every(({ boundary }) => boundary === undefined))
    return passed('no permissions boundary limits the roles');
  const missing = decisions.filter(({ boundary }) => boundary?.AllowedByPermissionsBoundary !== true);
  if (missing.length === 0) return passed('permissions boundary allows the use of the seal key');
  return failed(
    `permissions boundary does not allow ${missing.map(({ action }) => action).join(' and ')} on the seal key`,
    `Nothing can start. Allow it in the boundary, on ${sealKeyArn}.`,
  );
};
