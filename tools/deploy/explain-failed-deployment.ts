import {
  type CloudFormationClient,
  paginateDescribeStackEvents,
  type StackEvent,
} from '@aws-sdk/client-cloudformation';

/**
 * A sentence where the last deployment of a stack failed because a new role had not reached KMS, which passes by
 * itself (infra/constructs/seal-key.ts). Undefined for any other failure, and where there is no such stack.
 */
export const explainFailedDeployment = async (
  client: CloudFormationClient,
  StackName: string,
): Promise<string | undefined> => {
  try {
    // The newest event is the first.
    for await (const { StackEvents = [] } of paginateDescribeStackEvents({ client }, { StackName })) {
      if (StackEvents.some(isKeyWithoutRoles)) {
        return `${StackName} failed because the new roles of the seal key had not reached KMS in time. Run it again.`;
      }
      if (StackEvents.some(isBeginning)) return undefined;
    }
    return undefined;
  } catch (error) {
    // CloudFormation's answer for a stack that does not exist.
    if (error instanceof Error && error.name === 'ValidationError') return undefined;
    throw error;
  }
};

const isKeyWithoutRoles = ({
  ResourceType,
  ResourceStatus,
  ResourceStatusReason = '',
}: StackEvent): boolean =>
  ResourceType === 'AWS::KMS::Key' &&
  /_FAILED$/.test(ResourceStatus ?? '') &&
  /invalid principals/i.test(ResourceStatusReason);

const isBeginning = ({ ResourceType, ResourceStatus }: StackEvent): boolean =>
  ResourceType === 'AWS::CloudFormation::Stack' && /^(CREATE|UPDATE)_IN_PROGRESS$/.test(ResourceStatus ?? '');
