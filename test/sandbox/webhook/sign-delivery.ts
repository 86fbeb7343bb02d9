import { createHmac } from 'node:crypto';

/**
 * The value of `X-Service-Signature`: `sha256=` and the HMAC-SHA256, in lower-case hex, of the body's bytes as
 * they are sent ("Events" 6). In encrypted mode those are the bytes of the wrapper.
 */
export const signDelivery = (body: Uint8Array, signingKey: string): string =>
  `sha256=${createHmac('sha256', signingKey).update(body).digest('hex')}`;
