import { reconcile } from '../../../lib/extraction/reconcile.ts';
import { sweep } from '../../../lib/extraction/sweep.ts';
import { lifeOf, settings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { reconcileDepsFor } from './reconcile-deps.ts';

/** As functions/sweep-extractions.ts has it: a login and a read, and five seconds of our own work. */
const reserveMs = 2 * settings.providerTimeoutMs + 5_000;

/** reconcile-extraction, woken by the schedule. */
export const sweepOf = (world: World) => {
  let invocations = 0;
  return (): void => {
    const { kernel } = world;
    invocations += 1;
    kernel.spawn(
      `sweep ${invocations}`,
      lifeOf.reconcile,
      (process) => {
        const deps = reconcileDepsFor(world, process);
        return sweep({
          extractions: deps.extractions,
          reconcile: (extractionId) => {
            world.reconciles(process);
            return reconcile(extractionId, { kind: 'sweep' }, deps);
          },
          now: world.laterNow,
          timings: deps.timings,
          random: () => 0,
          remainingMs: () => process.diesAt - kernel.now,
          reserveMs,
          journal: world.journal,
          metrics: { count: () => undefined, publish: () => undefined },
        });
      },
      () => undefined,
    );
  };
};
