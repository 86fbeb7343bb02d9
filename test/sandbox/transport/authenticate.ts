import { createHash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Sandbox } from '../state-types.ts';
import type { SandboxContext, SandboxEnv } from './hono-types.ts';
import { refusal } from './refusal.ts';

/** The Bearer token of a call. Its fingerprint is added to the call's record. */
export const bearerToken = (c: SandboxContext): string | undefined => {
  const token = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (token !== undefined) c.get('call').bearer = fingerprintOf(token);
  return token;
};

/** First 12 hex digits of the SHA-256: distinguishes tokens without revealing them. */
export const fingerprintOf = (token: string): string =>
  createHash('sha256').update(token).digest('hex').slice(0, 12);

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

/** Requires a valid Task Token, else answers 401. A session token is not accepted ("Authentication"). */
export const requireTaskToken =
  (sandbox: Sandbox): MiddlewareHandler<SandboxEnv> =>
  async (c, next) => {
    const taskToken = sandbox.taskTokens.get(bearerToken(c) ?? '');
    if (taskToken === undefined || sandbox.clock.now() >= taskToken.expiresAt) {
      return refusal(c, 401, 'UNAUTHORIZED', 'Unauthorized');
    }
    const call = c.get('call');
    call.clientId = taskToken.clientId;
    call.username = taskToken.target;
    c.set('taskToken', taskToken);
    await next();
    return undefined;
  };
