import type { MiddlewareHandler } from 'hono';
import type { Sandbox } from '../state.ts';
import { bearerToken } from './bearer-token.ts';
import { refusal } from './refusal.ts';
import type { SandboxEnv } from './wire.ts';

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
