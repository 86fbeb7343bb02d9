import { setTimeout as delay } from 'node:timers/promises';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { inject } from 'vitest';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { waitMs } from '../windows.ts';
import { aws } from './aws.ts';
import { moveTimes } from './backdate.ts';
import { closed, readRecord } from './records.ts';

const { SweepFunctionName } = inject('cosecha').outputs;

/** What the schedule does every few minutes, now, and for these extractions alone (test/e2e/faults/sweep-scope.ts). */
export const sweepOnly = async (...only: readonly string[]): Promise<void> => {
  await aws.lambda.send(
    new InvokeCommand({
      FunctionName: SweepFunctionName,
      Payload: JSON.stringify({ trigger: 'sweep', only }),
    }),
  );
};

/** Moves when the sweep reconciles a record, if that is open still. */
export const moveDueTime = (extractionId: string, dueAt: Date): Promise<boolean> =>
  moveTimes(extractionId, { dueAt: dueAt.toISOString() });

/**
 * Sweeps an extraction as the schedule would, but without the minutes in between, until nothing is left to do for it.
 * What a sweep that died had claimed is due again at once.
 */
export const sweepUntilClosed = async (extractionId: string): Promise<Extraction> => {
  const deadline = Date.now() + waitMs;
  while (Date.now() < deadline) {
    if ((await readRecord(extractionId))?.dueShard === undefined) return closed(extractionId);
    await moveDueTime(extractionId, new Date());
    await sweepOnly(extractionId);
    await delay(100);
  }
  throw new Error(`${extractionId} was not closed by sweeps in ${waitMs} ms.`);
};
