import { InvokeCommand } from '@aws-sdk/client-lambda';
import { StopExecutionCommand } from '@aws-sdk/client-sfn';
import { expect, inject } from 'vitest';
import { aws } from './aws.ts';
import { eventually } from './eventually.ts';
import { executionOf } from './execution.ts';
import { plannedUsername } from './extractions.ts';
import { readRecord } from './records.ts';
import { running } from './running.ts';

const { ReconcileFunctionName } = inject('cosecha').outputs;

/** Waits until a record is due within a minute. Until it is deferred to the sweep, it is due after the test. */
export const deferredToSweep = (extractionId: string): Promise<void> =>
  eventually(async () => {
    const { dueAt = '' } = (await readRecord(extractionId)) ?? {};
    expect(Date.parse(dueAt)).toBeLessThan(Date.now() + 60_000);
  });

/** Stops an extraction's execution, as an operator would. */
export const stopExecution = (extractionId: string) =>
  aws.stepFunctions.send(
    new StopExecutionCommand({ executionArn: executionOf(extractionId), error: 'Stopped', cause: 'A test.' }),
  );

/** Stops an extraction's execution, and waits until the rule for broken executions has deferred it to the sweep. */
export const breakExecution = async (extractionId: string): Promise<void> => {
  await stopExecution(extractionId);
  await deferredToSweep(extractionId);
};

/** An extraction whose task runs at the provider, but whose execution was stopped: only the sweep reconciles it. */
export const runningWithoutExecution = async () => {
  const mine = await running(await plannedUsername({ durationMs: null, webhook: { enabled: false } }));
  await breakExecution(mine.extractionId);
  return mine;
};

/**
 * Invokes reconcile-extraction as the rule for broken executions does on AWS: asynchronously, with Lambda's retries.
 * The emulator's EventBridge invokes a function once and ignores its failure.
 */
export const reportBrokenExecution = (extractionId: string) =>
  aws.lambda.send(
    new InvokeCommand({
      FunctionName: ReconcileFunctionName,
      InvocationType: 'Event',
      Payload: JSON.stringify({ trigger: 'execution-broken', extractionId }),
    }),
  );
