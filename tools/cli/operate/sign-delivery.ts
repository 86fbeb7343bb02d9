import { createHmac } from 'node:crypto';
import { encryptCredentials } from '../../../lib/provider/encryption-scheme.ts';

/** A delivery as the provider would send it. */
export type SignedDelivery = { readonly body: string; readonly signature: string };

/** Signs a completion webhook ("Events") with this key. Encrypted, it uses the "Encryption scheme" of credentials too. */
export const signDelivery = (
  payload: { readonly taskId: string; readonly taskStatus: string },
  key: string,
  { encrypted }: { readonly encrypted: boolean },
): SignedDelivery => {
  const body = JSON.stringify(encrypted ? { data: encryptCredentials(payload, key) } : payload);
  return { body, signature: `sha256=${createHmac('sha256', key).update(body).digest('hex')}` };
};
