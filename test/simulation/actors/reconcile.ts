import { cancel } from '#lib/extraction/operate/cancel.ts';
import {
  answerReconcile,
  type ReconcileEvent,
  type ReconcileInvoker,
  reconcile,
  reconcileInvokerOf,
  reconcileMessages,
} from '#lib/extraction/reconcile/reconcile.ts';
import type { Process, ProcessEnd } from '../world/process.ts';
import type { QueuedMessage } from '../world/reconcile-queue.ts';
import { lifeOf, timings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { endWaitFor } from './line.ts';
import { reconcileDepsFor } from './reconcile-deps.ts';

/** reconcile-extraction: for the machine, which waits for the answer, for the queue, and for an operator. */
export const reconcileOf = (world: World) => {
  let invocations = 0;
  let consumers = 0;
  const laggingNow = (): Date => new Date(world.laterNow().getTime() - world.scenario.lag * 1_000);
  const reconcileIn =
    (process: Process, now = world.laterNow) =>
    (extractionId: string, invoker: ReconcileInvoker) =>
      reconcile(extractionId, invoker, reconcileDepsFor(world, process, now));
  const invoke = (
    extractionId: string,
    caller: ReconcileInvoker,
    ended: (end: ProcessEnd<unknown>) => void,
  ): void => {
    invocations += 1;
    world.kernel.spawn(
      `reconcile ${invocations}`,
      lifeOf.reconcile,
      async (process) => {
        process.byOperator = caller.kind === 'operator';
        return answerReconcile(extractionId, await reconcileIn(process)(extractionId, caller), caller.kind);
      },
      ended,
    );
  };

  const consume = ({ body, isSlow }: QueuedMessage, ended: (done: boolean) => void): void => {
    invocations += 1;
    consumers += 1;
    const now = consumers % 2 === 0 ? world.laterNow : laggingNow;
    const consumer = world.kernel.spawn(
      `consumer ${invocations}`,
      lifeOf.reconcile,
      (process) =>
        reconcileMessages([{ messageId: 'message', body }], {
          isSlow,
          reconcile: (extractionId, caller) => {
            if (caller.kind === 'queue') {
              process.cause = caller.cause;
              process.dueAt = caller.dueAt;
              process.isSlow = caller.isSlow;
            }
            return reconcileIn(process, now)(extractionId, caller);
          },
          now,
          timings,
          telemetry: world.telemetry,
        }),
      (end) => {
        const done = end.kind === 'returned' && end.value.batchItemFailures.length === 0;
        if (done) world.state('consumed', { by: consumer });
        ended(done);
      },
    );
  };
  return {
    reconcileForMachine: (event: ReconcileEvent, ended: (end: ProcessEnd<unknown>) => void): void =>
      invoke(event.extractionId, reconcileInvokerOf(event), ended),
    consume,
    cancel: (extractionId: string): void => {
      invocations += 1;
      world.kernel.spawn(
        `cancel ${invocations}`,
        lifeOf.reconcile,
        (process) => {
          process.byOperator = true;
          return cancel(extractionId, 'cancelled', {
            ...reconcileDepsFor(world, process, world.laterNow),
            ...endWaitFor(world, process),
          });
        },
        () => undefined,
      );
    },
    reconcileForOperator: (extractionId: string): void =>
      invoke(extractionId, { kind: 'operator' }, () => undefined),
  };
};
