import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, inject } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { aws } from './aws.ts';
import { executionOf } from './execution.ts';
import { readRecord } from './records.ts';

const { ReconcileQueueUrl } = inject('cosecha').outputs;

/** Waits until a record is due within a minute. Until a reconcile has deferred it, it is due after the test. */
export const deferred = (extractionId: string): Promise<void> =>
  eventually(async () => {
    const { dueAt = '' } = (await readRecord(extractionId)) ?? {};
    expect(Date.parse(dueAt)).toBeLessThan(Date.now() + 60_000);
  });

/** Stops an extraction's execution, as an operator would. */
export const stopExecution = (extractionId: string) =>
  aws.stepFunctions.send(
    new StopExecutionCommand({ executionArn: executionOf(extractionId), error: 'Stopped', cause: 'A test.' }),
  );

/** Stops an extraction's execution, and waits until the message of the rule for broken executions has deferred it. */
export const breakExecution = async (extractionId: string): Promise<void> => {
  await stopExecution(extractionId);
  await deferred(extractionId);
};

/** Sends the message of the rule for broken executions. */
export const reportBrokenExecution = (extractionId: string) =>
  aws.queues.send(
    new SendMessageCommand({
      QueueUrl: ReconcileQueueUrl,
      MessageBody: JSON.stringify({ extractionId, cause: 'execution-broken' }),
    }),
  );
