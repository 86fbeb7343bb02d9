import type { World } from '../world/world.ts';
import { intakeOf } from './intake.ts';
import { reconcileOf } from './reconcile.ts';
import { startTaskOf } from './start-task.ts';
import { sweepOf } from './sweep.ts';
import { webhookOf } from './webhook.ts';

/** Everybody who runs our code in a world: one invocation of a function each time one of these is called. */
export const processesOf = (world: World) => {
  return {
    intake: intakeOf(world),
    startTask: startTaskOf(world),
    webhook: webhookOf(world),
    ...reconcileOf(world),
    sweep: sweepOf(world),
  };
};
