import { setTimeout as delay } from 'node:timers/promises';
import type { MiddlewareHandler } from 'hono';
import type { Fault } from '../plan.ts';
import type { Sandbox } from '../state.ts';
import { misbehave } from './misbehave.ts';
import type { SandboxEnv } from './wire.ts';

/** Applies the first matching fault that has a behaviour left. */
export const applyFault =
  (sandbox: Sandbox): MiddlewareHandler<SandboxEnv> =>
  async (c, next) => {
    const now = sandbox.clock.now();
    const fault = sandbox.faults.find(
      (each) =>
        each.behaviours.length > 0 &&
        (each.endsAt === undefined || now < each.endsAt) &&
        fits(each, c.req.method, c.req.path),
    );
    const behaviour = fault?.behaviours.shift();
    if (behaviour !== undefined && fault?.endsAt !== undefined) fault.behaviours.push(behaviour);
    if (behaviour === undefined || behaviour.kind === 'pass') return next();
    c.get('reportReceived')();
    if (behaviour.kind !== 'slow') return misbehave(behaviour, c);
    await delay(behaviour.delayMs);
    return next();
  };

const fits = (fault: Fault, method: string, path: string): boolean => {
  if (fault.method !== undefined && fault.method !== method) return false;
  return fault.path.endsWith('*') ? path.startsWith(fault.path.slice(0, -1)) : path === fault.path;
};
