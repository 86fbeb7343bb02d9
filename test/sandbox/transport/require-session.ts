import type { MiddlewareHandler } from 'hono';
import type { Sandbox } from '../state.ts';
import { bearerToken } from './bearer-token.ts';
import type { SandboxEnv } from './wire.ts';

/** Requires a valid session token, else answers 401 ("Authentication" 3). */
export const requireSession =
  (sandbox: Sandbox): MiddlewareHandler<SandboxEnv> =>
  async (c, next) => {
    const session = sandbox.sessions.get(bearerToken(c) ?? '');
    const client = sandbox.clients.get(session?.clientId ?? '');
    if (session === undefined || client === undefined || sandbox.clock.now() >= session.expiresAt) {
      return c.json({ message: 'Unauthorized' }, 401);
    }
    c.get('call').clientId = session.clientId;
    c.set('session', session);
    c.set('client', client);
    await next();
    return undefined;
  };
