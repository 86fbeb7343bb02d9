import type { SendReconcile } from '../../../lib/extraction/reconcile-message.ts';
import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';

/** SendMessage. If the SDK repeats it after a lost answer, the queue has two messages. */
export const sendFor =
  (world: World, process: Process): SendReconcile =>
  (message, delaySeconds = 0) =>
    world.kernel.call<void>(process, process.name, {
      name: `send a message (${message.cause})`,
      kind: 'write',
      take: () => world.queue.accept(message, delaySeconds),
    });
