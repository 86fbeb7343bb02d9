import type { DeliveryShape, WebhookMode } from '../plan.ts';
import { encryptDelivery } from './encrypt-delivery.ts';
import { signDelivery } from './sign-delivery.ts';
import { type SignedDelivery, tamperDelivery } from './tamper-delivery.ts';

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
