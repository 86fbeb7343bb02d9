import type { SendReconcile } from '../../../lib/extraction/reconcile-message.ts';
import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';

/** SendMessage, to the reconcile queue or the slow queue. If the SDK repeats it after a lost answer, there are two messages. */
export const sendFor =
  (world: World, process: Process, isSlow = false): SendReconcile =>
  (message, delaySeconds = 0) =>
    world.kernel.call<void>(process, {
      name: `send a ${isSlow ? 'slow ' : ''}message (${message.cause})`,
      kind: 'write',
      take: () => world.queue.accept(message, delaySeconds, isSlow),
    });
