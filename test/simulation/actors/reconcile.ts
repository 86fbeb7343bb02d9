import { type ReconcileCaller, reconcile } from '../../../lib/extraction/reconcile.ts';
import { answerReconcile } from '../../../lib/extraction/reconcile-event.ts';
import type { ProcessEnd } from '../world/process.ts';
import { lifeOf } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { reconcileDepsFor } from './reconcile-deps.ts';

/** Lambda retries a failed asynchronous invocation after a minute. */
const retryAfterMs = 60_000;

/** reconcile-extraction: for the machine, which waits for the answer, and for the rule and an operator. */
export const reconcileOf = (world: World) => {
  let invocations = 0;
  const invoke = (
    extractionId: string,
    caller: ReconcileCaller,
    ended: (end: ProcessEnd<unknown>) => void,
  ): void => {
    invocations += 1;
    world.kernel.spawn(
      `reconcile ${invocations}`,
      lifeOf.reconcile,
      async (process) =>
        answerReconcile(
          extractionId,
          await reconcile(extractionId, caller, reconcileDepsFor(world, process)),
          caller.kind,
        ),
      ended,
    );
  };

  const reconcileForRule = (extractionId: string, retries: number): void =>
    invoke(extractionId, { kind: 'execution-broken' }, (end) => {
      if (end.kind === 'returned' || retries === 0) return;
      world.kernel.after(retryAfterMs, 'Lambda retries the invocation by the rule', () =>
        reconcileForRule(extractionId, retries - 1),
      );
    });
  return {
    reconcileForMachine: (
      { extractionId, startAbandoned }: { extractionId: string; startAbandoned: boolean },
      ended: (end: ProcessEnd<unknown>) => void,
    ): void => invoke(extractionId, { kind: 'machine', startAbandoned }, ended),
    reconcileForRule,
    /** An operator counts as the sweep. */
    reconcileForOperator: (extractionId: string): void =>
      invoke(extractionId, { kind: 'sweep' }, () => undefined),
  };
};
