import { createHmac, randomBytes } from 'node:crypto';
import { encryptCredentials } from '../provider/encrypt-credentials.ts';

/** A delivery as the provider would make it. */
export type SignedDelivery = { readonly body: string; readonly signature: string };

/**
 * Makes a completion webhook ("Events"): plain, or encrypted under the signing key by the same "Encryption scheme" as
 * credentials are; signed with that key or, if forged, with one that nobody has.
 */
export const signDelivery = (
  payload: { readonly taskId: string; readonly taskStatus: string },
  key: string,
  { encrypted, forged }: { readonly encrypted: boolean; readonly forged: boolean },
): SignedDelivery => {
  const body = JSON.stringify(encrypted ? { data: encryptCredentials(payload, key) } : payload);
  const signingKey = forged ? randomBytes(32) : key;
  return { body, signature: `sha256=${createHmac('sha256', signingKey).update(body).digest('hex')}` };
};
