import { createHash } from 'node:crypto';
import type { SandboxContext } from './wire.ts';

/** The Bearer token of a call. Its fingerprint is added to the call's record. */
export const bearerToken = (c: SandboxContext): string | undefined => {
  const token = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (token !== undefined) c.get('call').bearer = fingerprintOf(token);
  return token;
};

/** First 12 hex digits of the SHA-256: distinguishes tokens without revealing them. */
export const fingerprintOf = (token: string): string =>
  createHash('sha256').update(token).digest('hex').slice(0, 12);
