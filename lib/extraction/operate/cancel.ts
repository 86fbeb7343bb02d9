import { plan } from '../decide.ts';
import { type EndWaitDeps, endWait } from '../end-wait.ts';
import type { CancelProblem, Result } from '../plan.ts';
import type { ExtractionStatus } from '../record.ts';
import { cannotPerform, logResult, type RunDeps, run } from '../run.ts';
import type { RequestStore } from '../store.ts';

export type CancelDeps = RunDeps & EndWaitDeps & { readonly requests: RequestStore };

/**
 * Ends an extraction as `NOT_STARTED` with this problem, if its start was not claimed. It may be in line, or before its next try. Any other
 * extraction stays unchanged. Repeating it ends the wait that an interrupted cancellation has left. Throws what a store or `wake` throws.
 */
export const cancel = async (
  extractionId: string,
  problem: CancelProblem,
  deps: CancelDeps,
): Promise<Result> => {
  const invoker = { kind: 'cancel', problem } as const;
  const record = await deps.extractions.get(extractionId);
  const planned = plan(record, invoker, deps.now(), deps.timings);
  const result = await run(planned, record, invoker, { ...deps, perform: cannotPerform });
  if (result.record?.status === 'NOT_STARTED') await endWait(result.record, deps);
  logResult(extractionId, invoker, result, deps.telemetry);
  return result;
};

/** The event of a direct invocation of reconcile-extraction by an operator. */
export type CancelEvent = { readonly trigger: 'cancel'; readonly extractionId: string };

export type CancelAnswer = {
  readonly extractionId: string;
  readonly status: ExtractionStatus | 'GONE';
  /** Whether this invocation, or an earlier one, cancelled it. */
  readonly cancelled: boolean;
};

export const answerCancel = (extractionId: string, { record }: Result): CancelAnswer => ({
  extractionId,
  status: record?.status ?? 'GONE',
  cancelled: record?.status === 'NOT_STARTED' && record.lastProblem === 'cancelled',
});
