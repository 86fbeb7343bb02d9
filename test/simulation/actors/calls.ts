import type { SendReconcile } from '#lib/extraction/reconcile-message.ts';
import type { Extraction } from '#lib/extraction/record.ts';
import type { SealedRequestData } from '#lib/extraction/sealed-request-data.ts';
import type { StoredRequest, WakeOutcome } from '#lib/extraction/store.ts';
import { cacheSessionTokens, type SessionTokens } from '#lib/provider/tokens/session-tokens.ts';
import { cacheTaskTokens, type TaskTokens } from '#lib/provider/tokens/task-tokens.ts';
import { unsealed } from '../models/sealing.ts';
import type { Process } from '../world/process.ts';
import type { World } from '../world/world.ts';

/** SendMessage, to the reconcile queue or the slow queue. If the SDK repeats it after a lost answer, there are two messages. */
export const sendFor =
  (world: World, process: Process, isSlow = false): SendReconcile =>
  (message, _caller, delaySeconds = 0) =>
    world.kernel.call<void>(process, {
      name: `send a ${isSlow ? 'slow ' : ''}message (${message.cause})`,
      kind: 'write',
      take: () => world.queue.accept(message, delaySeconds, isSlow),
    });

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

/** KMS Decrypt. Throws for a ciphertext that was never sealed, or not for this item. */
export const unsealFor =
  (world: World, process: Process) =>
  <Plaintext extends SealedRequestData>(record: Extraction, item: StoredRequest): Promise<Plaintext> =>
    world.kernel.call(process, {
      name: 'unseal',
      kind: 'read',
      take: () => unsealed<Plaintext>(record, item),
    });

const hour = 3_600_000;

const logInFor = (world: World, process: Process) => (): Promise<string> => {
  world.state('logIn', { by: process });
  return world.kernel.call(process, world.provider.logIn());
};

/** Every process is cold and has no token. A warm process with an expired token is a start call that answers 401. */
export const sessionsFor = (world: World, process: Process): SessionTokens =>
  cacheSessionTokens({
    logIn: logInFor(world, process),
    lifetimeMs: hour,
    now: world.now,
  });

const noTaskTokens: TaskTokens = {
  current: async () => {
    throw new Error('no record by consent');
  },
  drop: () => undefined,
};

/** None without a consent: a cache of Task Tokens creates a random key, which is slow. */
export const taskTokensFor = (world: World, process: Process): TaskTokens =>
  world.scenario.method === 'credentials'
    ? noTaskTokens
    : cacheTaskTokens({
        create: logInFor(world, process),
        lifetimeMs: hour,
        now: world.now,
      });
