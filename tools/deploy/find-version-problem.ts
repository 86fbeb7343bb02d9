import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';

/** An output that each version since 0.1.0-rc.2 has. */
const sinceCompatible = 'StartLineTableName';

/**
 * Why a stack cannot become this version by an update, as a sentence, or undefined: CloudFormation would fail in the middle, as a table's
 * index cannot have other keys (CHANGELOG.md, 0.1.0-rc.2). Only a certain answer counts.
 */
export const findVersionProblem = async (
  client: CloudFormationClient,
  StackName: string,
): Promise<string | undefined> => {
  const { Stacks = [] } = await client
    .send(new DescribeStacksCommand({ StackName }))
    .catch(() => ({ Stacks: [] }));
  const { Outputs = [] } = Stacks[0] ?? {};
  const has = (name: string): boolean => Outputs.some(({ OutputKey }) => OutputKey === name);
  // One that was never made has no outputs.
  if (!has('ExtractionsTableName') || has(sinceCompatible)) return undefined;
  return `${StackName} is of 0.1.0-rc.1, which no later version can update. Nothing was deployed. Delete it first, as docs/leave.md says, or deploy another stage beside it.`;
};
