import { DescribeExecutionCommand, type SFNClient } from '@aws-sdk/client-sfn';
import type { ExecutionInput } from '../extraction/api/request-extraction.ts';
import { executionArn } from './execution-arn.ts';

/**
 * What an extraction's execution was started with; Step Functions tells it until 90 days after its end
 * (https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html). Throws the SDK's errors.
 */
export const readExecutionInputOf =
  (client: SFNClient, stateMachineArn: string) =>
  async (extractionId: string): Promise<ExecutionInput> => {
    const command = new DescribeExecutionCommand({
      executionArn: executionArn(stateMachineArn, extractionId),
    });
    const { input } = await client.send(command);
    return JSON.parse(input ?? '') as ExecutionInput;
  };
