import { createHash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Sandbox, Token } from '../state-types.ts';
import type { SandboxContext, SandboxEnv } from './hono-types.ts';
import { consentRefused, refused } from './refusal.ts';

/** First 12 hex digits of the SHA-256: distinguishes tokens without revealing them. */
export const fingerprintOf = (token: string): string =>
  createHash('sha256').update(token).digest('hex').slice(0, 12);

/** The Bearer token of a call, unless it has expired. Its fingerprint is added to the call's record. */
const bearerToken = (sandbox: Sandbox, c: SandboxContext): Token | undefined => {
  const text = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (text === undefined) return undefined;
  c.get('call').bearer = fingerprintOf(text);
  const token = sandbox.tokens.get(text);
  return token !== undefined && sandbox.clock.now() < token.expiresAt ? token : undefined;
};

/** Requires `x-api-key`, for privileged calls between servers ("Authentication"). */
export const requireApiKey =
  (sandbox: Sandbox): MiddlewareHandler<SandboxEnv> =>
  (c, next) => {
    const apiKey = c.req.header('x-api-key');
    const client = [...sandbox.clients.values()].find((candidate) => candidate.apiKey === apiKey);
    if (client === undefined) throw refused(401, { message: 'Unauthorized' });
    c.get('call').clientId = client.clientId;
    c.set('client', client);
    return next();
  };

/** Requires a valid session token, else answers 401 ("Authentication" 3). */
export const requireSession =
  (sandbox: Sandbox): MiddlewareHandler<SandboxEnv> =>
  (c, next) => {
    const session = bearerToken(sandbox, c);
    const client = sandbox.clients.get(session?.clientId ?? '');
    if (session?.kind !== 'session' || client === undefined) throw refused(401, { message: 'Unauthorized' });
    c.get('call').clientId = session.clientId;
    c.set('session', session);
    c.set('client', client);
    return next();
  };

/** Requires a valid Task Token, else answers 401. A session token is not accepted ("Authentication"). */
export const requireTaskToken =
  (sandbox: Sandbox): MiddlewareHandler<SandboxEnv> =>
  (c, next) => {
    const taskToken = bearerToken(sandbox, c);
    if (taskToken?.kind !== 'task') throw consentRefused(401, 'UNAUTHORIZED', 'Unauthorized');
    const call = c.get('call');
    call.clientId = taskToken.clientId;
    call.username = taskToken.target;
    c.set('taskToken', taskToken);
    return next();
  };
