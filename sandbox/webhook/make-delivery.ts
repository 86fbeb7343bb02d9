import { createHmac } from 'node:crypto';
import { encrypt } from '../encryption-scheme.ts';
import type { DeliveryShape, WebhookMode } from '../plan-schemas.ts';

/** The bytes and the signature of a delivery: the payload ("Events" 4) is encrypted, signed, then tampered with. */
export const makeDelivery = (
  taskId: string,
  taskStatus: string,
  signingKey: string,
  mode: WebhookMode,
  shape: DeliveryShape,
): SignedDelivery => {
  const payload = JSON.stringify({ taskId, taskStatus, ...shape.extraFields });
  const text = shape.raw ?? (mode === 'encrypted' ? encryptDelivery(payload, signingKey) : payload);
  const body = new TextEncoder().encode(text);
  return tamperDelivery(body, signDelivery(body, signingKey), shape.tamper);
};

/** The body of the encrypted mode, `{"data":"<CIPHER_TEXT>-<IV>"}` ("Events" 5). */
export const encryptDelivery = (payload: string, signingKey: string): string =>
  JSON.stringify({ data: encrypt(payload, signingKey) });

/**
 * The value of `X-Service-Signature`: `sha256=` and the HMAC-SHA256, in lower-case hex, of the body's bytes as
 * they are sent ("Events" 6). In encrypted mode those are the bytes of the wrapper.
 */
export const signDelivery = (body: Uint8Array | string, signingKey: string): string =>
  `sha256=${createHmac('sha256', signingKey).update(body).digest('hex')}`;

export type SignedDelivery = {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly signature?: string;
};

/** Tampers with a correctly signed delivery in one way. */
const tamperDelivery = (
  body: Uint8Array<ArrayBuffer>,
  signature: string,
  tamper: DeliveryShape['tamper'],
): SignedDelivery => {
  switch (tamper) {
    case undefined:
      return { body, signature };
    case 'missing':
      return { body };
    case 'malformed':
      return { body, signature: signature.replace('sha256=', 'sha256:') };
    case 'truncated':
      return { body, signature: signature.slice(0, -1) };
    case 'non-ascii':
      // One byte, 0xE9: header values travel as Latin-1.
      return { body, signature: `${signature.slice(0, -1)}é` };
    case 'signature':
      return { body, signature: otherLastDigit(signature) };
    case 'body':
      return { body: otherLastByte(body), signature };
  }
};

const otherLastDigit = (signature: string): string =>
  `${signature.slice(0, -1)}${signature.endsWith('0') ? '1' : '0'}`;

const otherLastByte = (body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
  const altered = new Uint8Array(body);
  const last = altered.length - 1;
  altered[last] = (altered[last] ?? 0) ^ 1;
  return altered;
};
