import { ExecutionAlreadyExists, type SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import type { ExecutionInput } from '../extraction/api/request-extraction.ts';

/**
 * Starts the execution named after the extraction. A name stays taken for 90 days, and one which exists is success: it
 * is this very record's, or that of a record before it under the same id, which starts nothing (`requestId` tells)
 * (https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html).
 */
export const startExecutionOf =
  (client: SFNClient, stateMachineArn: string) =>
  async (input: ExecutionInput): Promise<void> => {
    try {
      await client.send(
        new StartExecutionCommand({
          stateMachineArn,
          name: input.extractionId,
          input: JSON.stringify(input),
        }),
      );
    } catch (error) {
      if (!(error instanceof ExecutionAlreadyExists)) throw error;
    }
  };
