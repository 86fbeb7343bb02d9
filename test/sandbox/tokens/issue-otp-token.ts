import { randomUUID } from 'node:crypto';
import type { OtpToken, Sandbox } from '../state.ts';
import { makeJwt } from './make-jwt.ts';

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
