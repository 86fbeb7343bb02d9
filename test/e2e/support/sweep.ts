import { setTimeout as delay } from 'node:timers/promises';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { inject } from 'vitest';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { aws } from './aws.ts';
import { streamOf } from './records.ts';

const FunctionName = inject('cosecha').outputs.ReconcileFunctionName;

/** What the schedule does every few minutes, now. */
export const sweepNow = async (): Promise<void> => {
  const { FunctionError } = await aws.lambda.send(
    new InvokeCommand({ FunctionName, Payload: JSON.stringify({ trigger: 'sweep' }) }),
  );
  if (FunctionError !== undefined) throw new Error(`The sweep failed: ${FunctionError}`);
};

/** Sweeps whenever an extraction is due, as the schedule would, until nothing is left to do for it. */
export const sweepUntilClosed = async (extractionId: string, timeoutMs = 60_000): Promise<Extraction> => {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const last = streamOf(extractionId).at(-1)?.new;
    if (last !== undefined && last.open === undefined) return last;
    const due = new Date(last?.openUntil ?? 0).getTime();
    // No longer than a second: what the stream told last may be the claim of a sweep that is under way.
    await delay(Math.min(1_000, Math.max(100, due - Date.now())));
    await sweepNow();
  }
  throw new Error(`${extractionId} was not closed by sweeps in ${timeoutMs} ms`);
};
