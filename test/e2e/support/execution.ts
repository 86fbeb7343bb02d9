import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { inject } from 'vitest';
import { executionArn } from '#lib/aws/step-functions.ts';
import { wholeHistory } from '../../support/aws/follow-execution.ts';
import { waitMs } from '../time-limits.ts';
import { aws } from './aws.ts';

const machineArn = inject('cosecha').outputs.StateMachineArn ?? '';

export const executionOf = (extractionId: string): string => executionArn(machineArn, extractionId);

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
