import { createHash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Sandbox } from '../state.ts';
import type { SandboxEnv } from './wire.ts';

/** A Bearer failure is answered with 401 on the call itself ("Authentication" 3). */
export function requireSession(sandbox: Sandbox): MiddlewareHandler<SandboxEnv> {
  return async (c, next) => {
    const token = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    const call = c.get('call');
    if (token !== undefined) {
      call.bearer = createHash('sha256').update(token).digest('hex').slice(0, 12);
    }
    const session = token === undefined ? undefined : sandbox.sessions.get(token);
    if (session === undefined || sandbox.clock.now() >= session.expiresAt) {
      return c.json({ message: 'Unauthorized' }, 401);
    }
    call.clientId = session.clientId;
    c.set('session', session);
    await next();
    return undefined;
  };
}
