import { randomUUID } from 'node:crypto';
import type { Sandbox, TaskToken } from '../state.ts';
import { makeJwt } from './make-jwt.ts';

/** A token for one user's consents. `target`: the user's national id as `11111111-1`. */
export const issueTaskToken = (sandbox: Sandbox, clientId: string, target: string): TaskToken => {
  const expiresAt = sandbox.clock.now() + sandbox.settings.taskTokenLifeMs;
  const claims = { sub: target, jti: randomUUID(), exp: Math.floor(expiresAt / 1000) };
  const taskToken = { token: makeJwt(claims, sandbox.signingSecret), clientId, target, expiresAt };
  sandbox.taskTokens.set(taskToken.token, taskToken);
  return taskToken;
};
