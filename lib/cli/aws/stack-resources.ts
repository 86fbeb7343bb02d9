import { type CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';

/** The names of a stack's resources, by type. Throws the SDK's errors. */
export const stackResources = async (
  client: CloudFormationClient,
  stackName: string,
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const byType = new Map<string, string[]>();
  for await (const page of paginateListStackResources({ client }, { StackName: stackName })) {
    for (const { ResourceType = '', PhysicalResourceId } of page.StackResourceSummaries ?? []) {
      if (PhysicalResourceId === undefined) continue;
      byType.set(ResourceType, [...(byType.get(ResourceType) ?? []), PhysicalResourceId]);
    }
  }
  return byType;
};
