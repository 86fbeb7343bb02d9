import type { SendReconcileBatch } from '#lib/extraction/reconcile-message.ts';
import { sweep } from '#lib/extraction/sweep.ts';
import type { Process } from '../world/process.ts';
import { lifeOf, reserveMs } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { tablesFor } from './tables.ts';

/** SendMessageBatch, which may refuse some of the messages. Here there is only one. */
const sendBatchFor =
  (world: World, process: Process): SendReconcileBatch =>
  (batch) =>
    world.kernel.call(process, {
      name: 'send a batch',
      kind: 'write',
      take: () => {
        for (const { message } of batch) {
          world.sends(process);
          world.queue.accept(message, 0);
        }
        return [];
      },
      others: [{ name: 'refused', take: () => batch.map(({ message }) => message) }],
    });

/** sweep-extractions, invoked by the schedule. */
export const sweepOf = (world: World) => {
  let invocations = 0;
  return (): void => {
    const { kernel } = world;
    invocations += 1;
    kernel.spawn(
      `sweep ${invocations}`,
      lifeOf.sweep,
      (process) =>
        sweep({
          extractions: tablesFor(world, process).extractions,
          sendBatch: sendBatchFor(world, process),
          now: world.laterNow,
          random: () => 0,
          remainingMs: () => process.timeoutAt - kernel.now,
          reserveMs,
          telemetry: world.telemetry,
          publish: () => undefined,
        }),
      () => undefined,
    );
  };
};
