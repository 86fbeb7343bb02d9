import { createHmac } from 'node:crypto';

/** The provider's header for a body, made here with another spelling of the same HMAC than `lib/webhook` uses. */
export const signed = (body: string | Uint8Array, key: string): string =>
  `sha256=${createHmac('sha256', Buffer.from(key, 'utf8')).update(body).digest('hex')}`;
