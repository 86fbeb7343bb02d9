import type { WakeOutcome } from '../../../lib/extraction/record-delivery.ts';
import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';

/** SendTaskSuccess. If the SDK repeats it after a lost answer, the token is already used. */
export const wakeFor =
  (world: World, process: Process, from: 'webhook' | 'start-task') =>
  (callbackToken: string): Promise<WakeOutcome> =>
    world.kernel.call(process, {
      name: 'wake the machine',
      kind: 'write',
      take: () => {
        world.requireAlive('waking');
        const outcome = world.execution?.succeed(callbackToken) ?? 'gone';
        world.state('wake', { by: process, from });
        return outcome;
      },
    });
