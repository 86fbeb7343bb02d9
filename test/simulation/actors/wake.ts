import type { WakeOutcome } from '../../../lib/extraction/record-delivery.ts';
import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';

/** SendTaskSuccess. Sent again after an answer that was lost, it finds the token used up. */
export const wakeFor =
  (world: World, process: Process, from: 'webhook' | 'start-task') =>
  (callbackToken: string, extractionId: string): Promise<WakeOutcome> =>
    world.kernel.call(process, process.name, {
      name: 'wake the machine',
      kind: 'write',
      take: () => {
        const outcome = world.executions.get(extractionId)?.succeed(callbackToken) ?? 'gone';
        world.state('wake', { extractionId, outcome, by: process, from });
        return outcome;
      },
    });
