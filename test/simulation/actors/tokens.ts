import { cacheSessionTokens, type SessionTokens } from '../../../lib/provider/tokens/session-tokens.ts';
import { cacheTaskTokens, type TaskTokens } from '../../../lib/provider/tokens/task-tokens.ts';
import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';

const hour = 3_600_000;

/** Every process is cold and has no token. A warm process with an expired token is a start call that answers 401. */
export const sessionsFor = (world: World, process: Process): SessionTokens =>
  cacheSessionTokens({
    logIn: () => world.kernel.call(process, world.provider.logIn()),
    lifetimeMs: hour,
    now: world.now,
  });

export const taskTokensFor = (world: World, process: Process): TaskTokens =>
  cacheTaskTokens({
    create: () => world.kernel.call(process, world.provider.logIn()),
    lifetimeMs: hour,
    now: world.now,
  });
