import type { MiddlewareHandler } from 'hono';
import type { Fault } from '../plan.ts';
import type { Sandbox } from '../state.ts';
import { misbehave } from './misbehave.ts';
import type { SandboxEnv } from './wire.ts';

/** Applies the first matching fault that has a behaviour left. */
export const applyFault =
  (sandbox: Sandbox): MiddlewareHandler<SandboxEnv> =>
  async (c, next) => {
    const fault = sandbox.faults.find(
      (each) => each.behaviours.length > 0 && fits(each, c.req.method, c.req.path),
    );
    const behaviour = fault?.behaviours.shift();
    if (behaviour === undefined) {
      await next();
      return undefined;
    }
    c.get('reportReceived')();
    return misbehave(behaviour, c);
  };

const fits = (fault: Fault, method: string, path: string): boolean => {
  if (fault.method !== undefined && fault.method !== method) return false;
  return fault.path.endsWith('*') ? path.startsWith(fault.path.slice(0, -1)) : path === fault.path;
};
