import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { inject } from 'vitest';
import { aws } from './aws.ts';
import { executionOf } from './execution.ts';

const { ReconcileQueueUrl } = inject('cosecha').outputs;

/** Stops an extraction's execution, as an operator would. */
export const stopExecution = (extractionId: string) =>
  aws.stepFunctions.send(
    new StopExecutionCommand({ executionArn: executionOf(extractionId), error: 'Stopped', cause: 'A test.' }),
  );

/** Sends the message of the rule for broken executions. */
export const reportBrokenExecution = (extractionId: string) =>
  aws.queues.send(
    new SendMessageCommand({
      QueueUrl: ReconcileQueueUrl,
      MessageBody: JSON.stringify({ extractionId, cause: 'execution-broken' }),
    }),
  );
