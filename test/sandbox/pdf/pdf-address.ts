import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Sandbox } from '../state.ts';

/** "Limits": the consent PDF's signed URL is valid for 5 minutes. */
const VALIDITY_MS = 5 * 60 * 1000;

/** A signed URL of a consent's PDF; it needs no token. */
export const pdfAddress = (sandbox: Sandbox, origin: string, consentId: string): string => {
  const expires = String(sandbox.clock.now() + VALIDITY_MS);
  const signature = signatureOf(sandbox, consentId, expires);
  return `${origin}/consent-pdf/${consentId}?${new URLSearchParams({ expires, signature })}`;
};

export const isAddressAlive = (
  sandbox: Sandbox,
  consentId: string,
  { expires = '', signature = '' }: Readonly<Record<string, string>>,
): boolean => {
  const expected = Buffer.from(signatureOf(sandbox, consentId, expires));
  const given = Buffer.from(signature);
  return (
    given.length === expected.length &&
    timingSafeEqual(given, expected) &&
    sandbox.clock.now() < Number(expires)
  );
};

const signatureOf = (sandbox: Sandbox, consentId: string, expires: string): string =>
  createHmac('sha256', sandbox.signingSecret).update(`${consentId}\n${expires}`).digest('hex');
