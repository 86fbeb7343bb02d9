import { createHmac } from 'node:crypto';

/** The provider's signature header for a body. It does not use the HMAC code of `lib/webhook`. */
export const signatureHeader = (body: string | Uint8Array, key: string): string =>
  `sha256=${createHmac('sha256', Buffer.from(key, 'utf8')).update(body).digest('hex')}`;
