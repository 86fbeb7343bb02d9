import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { inject } from 'vitest';
import { executionArn } from '../../../lib/aws/step-functions.ts';
import { followExecution, isTransition } from '../../support/follow-execution.ts';
import { waitMs } from '../windows.ts';
import { aws } from './aws.ts';

const machineArn = inject('cosecha').outputs.StateMachineArn ?? '';

export const executionOf = (extractionId: string): string => executionArn(machineArn, extractionId);

/** Waits until an extraction's execution has ended, and returns its whole history. */
export const historyOf = async (extractionId: string): Promise<readonly HistoryEvent[]> => {
  const events: HistoryEvent[] = [];
  const signal = AbortSignal.timeout(waitMs);
  for await (const event of followExecution(aws.stepFunctions, executionOf(extractionId), signal)) {
    events.push(event);
  }
  return events;
};

export const transitionsIn = (history: readonly HistoryEvent[]): number =>
  history.filter(isTransition).length;
