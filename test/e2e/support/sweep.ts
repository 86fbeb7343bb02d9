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

/** The record, if it is closed now or within this time. */
const closedWithin = async (extractionId: string, ms: number): Promise<Extraction | undefined> => {
  const deadline = Date.now() + ms;
  for (;;) {
    const record = await readRecord(extractionId);
    if (record !== undefined && record.dueShard === undefined) return record;
    if (Date.now() >= deadline) return undefined;
    await delay(200);
  }
};

/** How long a test waits for the queue after a sweep, until it sweeps again. */
const queueMs = 3_000;

/**
 * Runs sweeps of an extraction without the minutes in between, until the queue has closed it. Returns the record, once the
 * stream has it too. A record that a sweep claimed in vain is due again at once.
 */
export const sweepUntilClosed = async (extractionId: string): Promise<Extraction> => {
  const deadline = Date.now() + waitMs;
  let record = await closedWithin(extractionId, 0);
  while (record === undefined && Date.now() < deadline) {
    await moveDueTime(extractionId, new Date());
    await sweepOnly(extractionId);
    record = await closedWithin(extractionId, queueMs);
  }
  if (record === undefined) throw new Error(`${extractionId} was not closed by sweeps in ${waitMs} ms.`);
  return recordWhere(extractionId, 'closed', (one) => isDeepStrictEqual(one, record));
};
