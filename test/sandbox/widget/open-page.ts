import { randomBytes } from 'node:crypto';
import { consentStateAt } from '../consents/consent-state.ts';
import type { Consent, Sandbox } from '../state.ts';

/** Uses an OTP token up: the consent to decide on, and the key of the page that may; undefined: it cannot be used. */
export function openPage(
  sandbox: Sandbox,
  token: string,
): { readonly consent: Consent; readonly key: string } | undefined {
  const otpToken = sandbox.otpTokens.get(token);
  if (otpToken === undefined || otpToken.used || sandbox.clock.now() >= otpToken.expiresAt) return undefined;
  const consent = sandbox.consents.get(otpToken.consentId);
  if (consent === undefined || !isUndecided(sandbox, consent)) return undefined;
  otpToken.used = true;
  const key = randomBytes(16).toString('hex');
  sandbox.openPages.set(key, consent);
  return { consent, key };
}

/** The consent of an open page, as long as it can still be decided on. */
export function openConsent(sandbox: Sandbox, key: string): Consent | undefined {
  const consent = sandbox.openPages.get(key);
  return consent !== undefined && isUndecided(sandbox, consent) ? consent : undefined;
}

function isUndecided(sandbox: Sandbox, consent: Consent): boolean {
  return consentStateAt(consent, sandbox.clock.now()).status === 'IN_PROGRESS';
}
