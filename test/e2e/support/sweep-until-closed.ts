import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { inject } from 'vitest';
import type { Extraction } from '#lib/extraction/record.ts';
import { waitMs } from '../time-limits.ts';
import { aws } from './aws.ts';
import { moveTimes } from './backdate.ts';
import { readRecord, recordWhere } from './records.ts';

const { SweepFunctionName } = inject('cosecha').outputs;

/** Runs the sweep now, for these extractions alone (test/e2e/injected-failures/sweep-scope.ts). */
export const sweepOnly = async (...only: readonly string[]): Promise<void> => {
  await aws.lambda.send(
    new InvokeCommand({
      FunctionName: SweepFunctionName,
      Payload: JSON.stringify({ trigger: 'sweep', only }),
    }),
  );
};

/** Sets `dueAt`, if the record is still open. */
const moveDueTime = (extractionId: string, dueAt: Date): Promise<boolean> =>
  moveTimes(extractionId, { dueAt: dueAt.toISOString() });

/** Those that are open after this time, or none as soon as all are closed. */
const openAfter = async (extractionIds: readonly string[], ms: number): Promise<readonly string[]> => {
  const deadline = Date.now() + ms;
  let open = extractionIds;
  for (;;) {
    const records = await Promise.all(open.map(readRecord));
    open = open.filter((_, index) => records[index] === undefined || records[index]?.dueShard !== undefined);
    if (open.length === 0 || Date.now() >= deadline) return open;
    await delay(200);
  }
};

/** How long a test waits for the queue after a sweep, until it sweeps again. */
const queueMs = 3_000;

/** The closed record, once the stream has it too. */
const closedRecord = async (extractionId: string): Promise<Extraction> => {
  const record = await readRecord(extractionId);
  return recordWhere(extractionId, 'closed', (one) => isDeepStrictEqual(one, record));
};

/**
 * Runs sweeps of these extractions without the minutes in between, until the queue has closed all. One that a sweep leased
 * in vain is due again at once. Each sweep is for all: one for each would keep a busy machine so busy that other functions
 * exceed their timeouts.
 */
const sweepUntilNoneIsOpen = async (extractionIds: readonly string[]): Promise<void> => {
  const deadline = Date.now() + waitMs;
  let open = await openAfter(extractionIds, 0);
  while (open.length > 0 && Date.now() < deadline) {
    await Promise.all(open.map((extractionId) => moveDueTime(extractionId, new Date())));
    await sweepOnly(...open);
    open = await openAfter(open, queueMs);
  }
  if (open.length > 0) throw new Error(`${open.join(', ')} not closed by sweeps in ${waitMs} ms.`);
};

/** Closes these extractions by sweeps, and returns their records. */
export const sweepAllUntilClosed = async (
  extractionIds: readonly string[],
): Promise<readonly Extraction[]> => {
  await sweepUntilNoneIsOpen(extractionIds);
  return Promise.all(extractionIds.map(closedRecord));
};

/** The same for one extraction. */
export const sweepUntilClosed = async (extractionId: string): Promise<Extraction> => {
  await sweepUntilNoneIsOpen([extractionId]);
  return closedRecord(extractionId);
};
