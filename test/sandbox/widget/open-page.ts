import { randomBytes } from 'node:crypto';
import { consentStateAt } from '../consents/consent-state.ts';
import type { Consent, Sandbox } from '../state-types.ts';

/** The consent whose page an OTP token can still open, or undefined. The token is not used. */
export const openableConsent = (sandbox: Sandbox, token: string): Consent | undefined => {
  const otpToken = sandbox.otpTokens.get(token);
  if (otpToken === undefined || otpToken.used || sandbox.clock.now() >= otpToken.expiresAt) return undefined;
  const consent = sandbox.consents.get(otpToken.consentId);
  return consent !== undefined && isUndecided(sandbox, consent) ? consent : undefined;
};

/** Uses the OTP token of an openable consent, and returns the key of its page. */
export const openPage = (sandbox: Sandbox, token: string, consent: Consent): string => {
  const otpToken = sandbox.otpTokens.get(token);
  if (otpToken !== undefined) otpToken.used = true;
  const key = randomBytes(16).toString('hex');
  sandbox.openPages.set(key, consent);
  return key;
};

/** The consent of an open page, if it is still undecided. */
export const openConsent = (sandbox: Sandbox, key: string): Consent | undefined => {
  const consent = sandbox.openPages.get(key);
  return consent !== undefined && isUndecided(sandbox, consent) ? consent : undefined;
};

const isUndecided = (sandbox: Sandbox, consent: Consent): boolean =>
  consentStateAt(consent, sandbox.clock.now()).status === 'IN_PROGRESS';
