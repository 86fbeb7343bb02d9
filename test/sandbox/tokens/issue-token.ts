import { createHmac, randomUUID } from 'node:crypto';
import type { OtpToken, Sandbox, TaskToken } from '../state-types.ts';

/** A JWT (HS256): the document's format of OTP tokens and Task Tokens. Times are in seconds (RFC 7519). */
export const makeJwt = (claims: Readonly<Record<string, unknown>>, secret: Uint8Array): string => {
  const head = [{ alg: 'HS256', typ: 'JWT' }, claims].map(encoded).join('.');
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
};

const encoded = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** The one-use token that opens the consent page for one consent. */
export const issueOtpToken = (
  sandbox: Sandbox,
  { consentId, clientId, expiresAt }: Pick<OtpToken, 'consentId' | 'clientId' | 'expiresAt'>,
): OtpToken => {
  const claims = { sub: consentId, jti: randomUUID(), exp: Math.floor(expiresAt / 1000) };
  const otpToken = {
    token: makeJwt(claims, sandbox.signingSecret),
    consentId,
    clientId,
    expiresAt,
    used: false,
  };
  sandbox.otpTokens.set(otpToken.token, otpToken);
  return otpToken;
};

/** A token for one user's consents. `target`: the user's national id as `11111111-1`. */
export const issueTaskToken = (sandbox: Sandbox, clientId: string, target: string): TaskToken => {
  const expiresAt = sandbox.clock.now() + sandbox.settings.taskTokenLifeMs;
  const claims = { sub: target, jti: randomUUID(), exp: Math.floor(expiresAt / 1000) };
  const taskToken = { token: makeJwt(claims, sandbox.signingSecret), clientId, target, expiresAt };
  sandbox.taskTokens.set(taskToken.token, taskToken);
  return taskToken;
};
