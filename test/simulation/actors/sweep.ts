import { reconcile } from '../../../lib/extraction/reconcile.ts';
import { sweep } from '../../../lib/extraction/sweep.ts';
import { lifeOf, settings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { reconcileDepsFor } from './reconcile-deps.ts';

/** As in functions/sweep-extractions.ts. */
const reserveMs = 2 * settings.providerTimeoutMs + 5_000;

/** sweep-extractions, invoked by the schedule. */
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
          remainingMs: () => process.timeoutAt - kernel.now,
          reserveMs,
          journal: world.journal,
          metrics: { count: () => undefined, publish: () => undefined },
        });
      },
      () => undefined,
    );
  };
};
