import { type Check, passed } from './check.ts';
import { expectOutcome, extract, isDone, readUntil, requestOf } from './extractions.ts';

export const timeoutCorrected: Check = {
  id: 'timeout-corrected',
  title: 'A task without end by the deadline is TIMED_OUT, and its later final status corrects that',
  turn: 'together',
  seconds: ({ lateTaskSeconds }) => lateTaskSeconds + 120,
  run: async (context) => {
    const scenario = { outcome: 'PARTIAL', endsAfter: context.lateTaskSeconds } as const;
    const extractionId = await extract(context, requestOf('timeout-corrected', scenario));
    const timedOut = await readUntil(
      context,
      extractionId,
      'TIMED_OUT',
      ({ status, settledAt }) => status === 'TIMED_OUT' || settledAt !== undefined,
    );
    expectOutcome(timedOut, 'TIMED_OUT', 'reconcile', 'Compare its deadlineAt with its settledAt.');
    const corrected = await readUntil(
      context,
      extractionId,
      'corrected to PARTIAL and collected',
      (extraction) => extraction.status === 'PARTIAL' && isDone(extraction),
    );
    return passed(
      `TIMED_OUT at ${String(timedOut.settledAt)}, corrected by the ${String(corrected.settledBy)} at ${String(corrected.settledAt)}`,
    );
  },
};
