import { DescribeKeyCommand, type KMSClient } from '@aws-sdk/client-kms';
import { formatSeconds } from '../terminal/format-seconds.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Fails where a key cannot be used, or will be deleted. `keys` are ARNs, by what the keys are called. */
export const checkKeys = async (
  client: KMSClient,
  keys: Readonly<Record<string, string>>,
  now: Date,
): Promise<Finding> => {
  const found = await Promise.all(
    Object.entries(keys).map(async ([label, KeyId]) => {
      const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId }));
      return {
        label,
        KeyId,
        state: KeyMetadata?.KeyState ?? 'unknown',
        deletedAt: KeyMetadata?.DeletionDate,
      };
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
