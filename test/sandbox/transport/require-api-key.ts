import type { MiddlewareHandler } from 'hono';
import type { Sandbox } from '../state.ts';
import type { SandboxEnv } from './wire.ts';

/** Requires `x-api-key`, for privileged calls between servers ("Authentication"). */
export const requireApiKey =
  (sandbox: Sandbox): MiddlewareHandler<SandboxEnv> =>
  async (c, next) => {
    const apiKey = c.req.header('x-api-key');
    const client = [...sandbox.clients.values()].find((candidate) => candidate.apiKey === apiKey);
    if (client === undefined) return c.json({ message: 'Unauthorized' }, 401);
    c.get('call').clientId = client.clientId;
    c.set('client', client);
    await next();
    return undefined;
  };
