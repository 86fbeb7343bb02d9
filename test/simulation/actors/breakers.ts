import { type CircuitBreaker, createCircuitBreaker } from '#lib/breaker/circuit-breaker.ts';
import { parseBreakerState } from '#lib/breaker/stored-breaker.ts';
import { rateItem } from '#lib/rate-limit/rate-state.ts';
import {
  operatorSettingsOf,
  type PausableCalls,
  parsePauses,
  pausesItem,
} from '#lib/shared-item/operator-settings.ts';
import type { StoredItem } from '#lib/shared-item/shared-item.ts';
import { breakerStoreOver, closedCircuit } from '../../support/stores/memory-breaker-store.ts';
import type { CarryOut } from '../../support/stores/store-fault.ts';
import type { Process } from '../world/process.ts';
import { breakerSettings } from '../world/settings.ts';
import type { World } from '../world/world.ts';

/** The table for one process. The world keeps what the process saw of it last. */
export const storeFor = (world: World, process: Process) => {
  const carryOut: CarryOut = async (call, effect) => {
    const { key, method } = call;
    const kind = method === 'replace' ? 'write' : 'read';
    if (key === rateItem) return world.kernel.call(process, { name: `${method} rate`, kind, take: effect });
    const seen = key === pausesItem ? world.pausesSeen : world.breakersSeen;
    // Without an answer the process does not know the state, and makes its call.
    seen.delete(process);
    const answer = await world.kernel.call(process, {
      name: `${method} breaker of ${key === pausesItem ? 'the operator' : 'the caller'}`,
      kind,
      take: effect,
    });
    const stored = (answer as StoredItem | undefined)?.state;
    const now = world.now().getTime();
    if (key === pausesItem) world.pausesSeen.set(process, parsePauses(stored, now).state);
    else world.breakersSeen.set(process, parseBreakerState(stored, now).state);
    return answer;
  };
  return breakerStoreOver(world.breakers, carryOut);
};

/** Whether an operator paused calls, as one process knows it. */
export const pausesFor = (world: World, process: Process): ((calls: PausableCalls) => Promise<boolean>) =>
  world.scenario.breakers === undefined
    ? async () => false
    : operatorSettingsOf({ store: storeFor(world, process), now: world.now, telemetry: world.telemetry })
        .isPaused;

/** The breakers for one process. Their state is shared by all processes of the world, and no process has read it yet. */
export const breakerFor = (world: World, process: Process): CircuitBreaker => {
  if (world.scenario.breakers === undefined) return closedCircuit;
  const isPaused = pausesFor(world, process);
  let ids = 0;
  return createCircuitBreaker({
    store: storeFor(world, process),
    settings: breakerSettings,
    isPaused: () => isPaused('starts'),
    now: world.now,
    random: () => 0.5,
    newId: () => {
      ids += 1;
      return `${process.name}/${ids}`;
    },
    telemetry: world.telemetry,
  });
};
