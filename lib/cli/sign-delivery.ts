import { createHmac } from 'node:crypto';
import { encryptCredentials } from '../provider/encryption-scheme.ts';

/** A delivery as the provider would make it. */
export type SignedDelivery = { readonly body: string; readonly signature: string };

/**
 * Makes a completion webhook ("Events"), signed with this key: plain, or encrypted under it by the same "Encryption
 * scheme" as credentials are.
 */
export const signDelivery = (
  payload: { readonly taskId: string; readonly taskStatus: string },
  key: string,
  { encrypted }: { readonly encrypted: boolean },
): SignedDelivery => {
  const body = JSON.stringify(encrypted ? { data: encryptCredentials(payload, key) } : payload);
  return { body, signature: `sha256=${createHmac('sha256', key).update(body).digest('hex')}` };
};
