import { type HistoryEvent, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { inject } from 'vitest';
import { executionArn } from '#lib/aws/step-functions.ts';
import { wholeHistory } from '../../support/aws/follow-execution.ts';
import { waitMs } from '../time-limits.ts';
import { aws } from './aws.ts';

const { outputs } = inject('cosecha');

const executionOf = (extractionId: string): string =>
  executionArn(outputs.StateMachineArn ?? '', extractionId);

/** Waits until an extraction's execution has ended, and returns its whole history. */
export const historyOf = (extractionId: string): Promise<readonly HistoryEvent[]> =>
  wholeHistory(aws.stepFunctions, executionOf(extractionId), AbortSignal.timeout(waitMs));

/**
 * How many state transitions a history has, which AWS bills, without those of waits in line, `InLine` and `StartTask` after it: whether
 * a start waits depends on the other tests of the deployment, as a 429 to one of them lowers the rate for all.
 */
export const transitionsIn = (history: readonly HistoryEvent[]): number => {
  const entered = history.flatMap(({ stateEnteredEventDetails }) => stateEnteredEventDetails?.name ?? []);
  return entered.length - 2 * entered.filter((name) => name === 'InLine').length;
};

/** Stops an extraction's execution, as an operator would. */
export const stopExecution = (extractionId: string) =>
  aws.stepFunctions.send(
    new StopExecutionCommand({ executionArn: executionOf(extractionId), error: 'Stopped', cause: 'A test.' }),
  );

/** Sends the message of the rule for broken executions. */
export const reportBrokenExecution = (extractionId: string) =>
  aws.queues.send(
    new SendMessageCommand({
      QueueUrl: outputs.ReconcileQueueUrl,
      MessageBody: JSON.stringify({ extractionId, cause: 'execution-broken' }),
    }),
  );
