import { createHash } from 'node:crypto';
import type { SandboxContext } from './wire.ts';

/** The Bearer token of a call, of which the call's record keeps a fingerprint. */
export const bearerToken = (c: SandboxContext): string | undefined => {
  const token = /^Bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (token !== undefined) c.get('call').bearer = fingerprintOf(token);
  return token;
};

/** First 12 hex digits of the SHA-256: tells tokens apart, gives none away. */
export const fingerprintOf = (token: string): string =>
  createHash('sha256').update(token).digest('hex').slice(0, 12);
