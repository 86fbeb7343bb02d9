import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';

export type DescribedStack = {
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
};

/** The stack by name, or undefined where there is none. Throws the SDK's other errors. */
export const describeStack = async (
  client: CloudFormationClient,
  name: string,
): Promise<DescribedStack | undefined> => {
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: name }));
    if (stack === undefined) return undefined;
    const outputs = (stack.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [
      OutputKey,
      OutputValue,
    ]);
    return {
      status: stack.StackStatus ?? '',
      outputs: Object.fromEntries(outputs),
    };
  } catch (error) {
    // What CloudFormation says of a stack that does not exist.
    if (error instanceof Error && error.name === 'ValidationError') return undefined;
    throw error;
  }
};
