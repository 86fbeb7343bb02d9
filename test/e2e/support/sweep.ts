import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { inject } from 'vitest';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { waitMs } from '../windows.ts';
import { aws } from './aws.ts';
import { moveTimes } from './backdate.ts';
import { readRecord, recordWhere } from './records.ts';

const { SweepFunctionName } = inject('cosecha').outputs;

/** Runs the sweep now, for these extractions alone (test/e2e/faults/sweep-scope.ts). */
export const sweepOnly = async (...only: readonly string[]): Promise<void> => {
  await aws.lambda.send(
    new InvokeCommand({
      FunctionName: SweepFunctionName,
      Payload: JSON.stringify({ trigger: 'sweep', only }),
    }),
  );
};

export const inAnHour = (): Date => new Date(Date.now() + 3_600_000);

/** Sets `dueAt`, if the record is still open. */
export const moveDueTime = (extractionId: string, dueAt: Date): Promise<boolean> =>
  moveTimes(extractionId, { dueAt: dueAt.toISOString() });

/**
 * Runs sweeps of an extraction without the minutes in between, until it is closed. Returns the record, once the stream
 * has it too. A record that an interrupted sweep claimed is due again at once.
 */
export const sweepUntilClosed = async (extractionId: string): Promise<Extraction> => {
  const deadline = Date.now() + waitMs;
  while (Date.now() < deadline) {
    const record = await readRecord(extractionId);
    if (record !== undefined && record.dueShard === undefined)
      return recordWhere(extractionId, 'closed', (one) => isDeepStrictEqual(one, record));
    await moveDueTime(extractionId, new Date());
    await sweepOnly(extractionId);
    await delay(100);
  }
  throw new Error(`${extractionId} was not closed by sweeps in ${waitMs} ms.`);
};
