import type { WakeOutcome } from '#lib/extraction/store.ts';
import { dispatchStarts } from '#lib/rate-limit/dispatch-starts.ts';
import { createStartLimiter, type StartLimiter } from '#lib/rate-limit/start-limiter.ts';
import type { StartLineStore, StoredEntry } from '#lib/rate-limit/start-line.ts';
import { permitStoreOver } from '../../support/stores/memory-breaker-store.ts';
import { openLine, startLineOver } from '../../support/stores/memory-start-line.ts';
import type { CarryOut } from '../../support/stores/store-fault.ts';
import type { Process } from '../world/process.ts';
import { lifeOf } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { pausesFor, storeFor } from './breakers.ts';

const reads: readonly string[] = ['find', 'next', 'counts'] satisfies (keyof StartLineStore)[];

/** Other answers of the index `line`, which is eventually consistent. */
const staleIndex = [{ name: 'index lags, start missing', take: () => [] as never }];

/** The table `StartLine` for one process. In a world without a rate, nobody is usually in line, so there is nothing to decide. */
const lineFor = (world: World, process: Process): StartLineStore => {
  const carryOut: CarryOut = async ({ method }, effect) => {
    const take = (): ReturnType<typeof effect> => {
      const answer = effect();
      if (method === 'find') process.seenInLine = answer as StoredEntry | undefined;
      world.noteLine();
      return answer;
    };
    if (!world.hasLine) return take();
    return world.kernel.call(process, {
      name: `${method} line`,
      kind: reads.includes(method) ? 'read' : 'write',
      take,
      ...(method === 'next' ? { others: staleIndex } : {}),
    });
  };
  return startLineOver(world.line, carryOut);
};

/** SendTaskSuccess for a start that waits in line. */
const releaseFor =
  (world: World, process: Process) =>
  (callbackToken: string): Promise<WakeOutcome> =>
    world.kernel.call(process, {
      name: 'end the wait in line',
      kind: 'write',
      take: () => {
        world.requireAlive('waking');
        return world.execution?.succeed(callbackToken) ?? 'gone';
      },
    });

/** What a process needs that ends the wait of a start. */
export const endWaitFor = (world: World, process: Process) => ({
  startLine: lineFor(world, process),
  wake: releaseFor(world, process),
});

/** The items of the rate for one process. */
const rateFor = (world: World, process: Process) => {
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `${process.name}/rate-${ids}`;
  };
  const carryOut: CarryOut = ({ method, key }, effect) =>
    world.kernel.call(process, { name: `${method} ${key}`, kind: 'write', take: effect });
  return {
    store: storeFor(world, process),
    permits: permitStoreOver(world.breakers, carryOut),
    limit: async () => world.scenario.line?.perSecond,
    now: world.now,
    telemetry: world.telemetry,
    newId,
    newVersion: newId,
  };
};

/** What lets a start go, for one process that has read nothing yet. */
export const startLineFor = (
  world: World,
  process: Process,
): { readonly limiter: StartLimiter; readonly line: StartLineStore } => {
  const line = lineFor(world, process);
  if (!world.hasLine) return openLine(line);
  const limiter = createStartLimiter({
    ...rateFor(world, process),
    line,
    invokeDispatcher: () =>
      world.kernel.call<void>(process, {
        name: 'invoke the dispatcher',
        kind: 'write',
        take: () => world.dispatch(),
      }),
  });
  return { limiter, line };
};

/** Below the reserve of the dispatcher, so that an invocation ends after one tick. */
const remainingMs = 9_000;

/** dispatch-starts: one tick. Starts and a timer invoke it more often than they do on AWS. */
export const dispatcherOf = (world: World) => {
  let invocations = 0;
  return (): void => {
    const { kernel } = world;
    invocations += 1;
    const name = `dispatcher ${invocations}`;
    kernel.spawn(
      name,
      lifeOf.dispatcher,
      (process) => {
        const isPaused = pausesFor(world, process);
        return dispatchStarts({
          ...rateFor(world, process),
          line: lineFor(world, process),
          isPaused: () => isPaused('starts'),
          release: async ({ callbackToken }) => void (await releaseFor(world, process)(callbackToken)),
          wait: (milliseconds) => kernel.sleep(process, milliseconds),
          remainingMs: () => remainingMs,
          publish: () => undefined,
          isScheduled: false,
        });
      },
      () => undefined,
    );
  };
};
