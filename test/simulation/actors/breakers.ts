import { type BreakerName, closedBreaker } from '../../../lib/breaker/breaker-state.ts';
import type { StoredBreaker } from '../../../lib/breaker/breaker-store.ts';
import { parseBreakerState } from '../../../lib/breaker/breaker-store.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../../../lib/breaker/circuit-breaker.ts';
import { breakerStoreOver, closedCircuit } from '../../support/memory-breaker-store.ts';
import type { CarryOut } from '../../support/store-fault.ts';
import type { Process } from '../world/process.ts';
import { breakerSettings } from '../world/settings.ts';
import type { World } from '../world/world.ts';

let ids = 0;

/** A breaker for one process. Its state is shared by all processes of the world, and no process has read it yet. */
export const breakerFor = (world: World, process: Process, name: BreakerName): CircuitBreaker => {
  if (world.scenario.breakers === undefined) return closedCircuit;
  const carryOut: CarryOut = async (call, effect) => {
    // Without an answer the process does not know the state, and makes its call.
    world.startsSeen.delete(process);
    const answer = await world.kernel.call(process, process.name, {
      name: `${call.method} breaker of ${name}`,
      kind: call.method === 'read' ? 'read' : 'write',
      take: effect,
    });
    if (name === 'starts')
      world.startsSeen.set(
        process,
        parseBreakerState(
          (answer as StoredBreaker | undefined)?.state ?? closedBreaker,
          world.now().getTime(),
        ).state,
      );
    return answer;
  };
  return createCircuitBreaker({
    name,
    store: breakerStoreOver(world.breakers, carryOut),
    settings: breakerSettings,
    now: world.now,
    newId: () => {
      ids += 1;
      return `${process.name}/${ids}`;
    },
    // No call of this world is slow: the outages have those.
    schedule: () => () => undefined,
    telemetry: world.telemetry,
  });
};
