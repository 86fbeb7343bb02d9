import {
  type CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';

/** The stack of this name, or undefined where there is none. Throws the SDK's other errors. */
export const describeStack = async (client: CloudFormationClient, name: string) => {
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
    if (stack === undefined) return undefined;
    const { StackStatus: status, Outputs = [] } = stack;
    const outputs = Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue] as const);
    return { status, outputs: Object.fromEntries(outputs) };
  } catch (error) {
    // CloudFormation's answer for a stack that does not exist.
    if (error instanceof Error && error.name === 'ValidationError') return undefined;
    throw error;
  }
};

/** The physical ids of a stack's resources by type, or of those whose logical ids pass. */
export const readStackResources = async (
  client: CloudFormationClient,
  stackName: string,
  passes: (logicalId: string) => boolean = () => true,
) => {
  const byType = new Map<string, string[]>();
  for await (const page of paginateListStackResources({ client }, { StackName: stackName })) {
    for (const {
      ResourceType = '',
      LogicalResourceId = '',
      PhysicalResourceId,
    } of page.StackResourceSummaries ?? []) {
      if (PhysicalResourceId === undefined || !passes(LogicalResourceId)) continue;
      byType.set(ResourceType, [...(byType.get(ResourceType) ?? []), PhysicalResourceId]);
    }
  }
  return byType;
};
