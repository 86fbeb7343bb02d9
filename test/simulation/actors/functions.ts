import type { World } from '../world/world.ts';
import { eraseOf } from './erase.ts';
import { dispatcherOf } from './line.ts';
import { reconcileOf } from './reconcile.ts';
import { requestExtractionOf } from './request-extraction.ts';
import { startTaskOf } from './start-task.ts';
import { sweepOf } from './sweep.ts';
import { webhookOf } from './webhook.ts';

/** The functions of a world. Each call is one invocation, which runs the real code. */
export const functionsOfWorld = (world: World) => {
  return {
    intake: requestExtractionOf(world),
    startTask: startTaskOf(world),
    webhook: webhookOf(world),
    ...reconcileOf(world),
    sweep: sweepOf(world),
    dispatch: dispatcherOf(world),
    ...eraseOf(world),
  };
};
