import { createHmac } from 'node:crypto';
import { allowedTransitions } from '../../../lib/extraction/change.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { encryptCredentials } from '../../../lib/provider/encrypt-and-decrypt.ts';

export type PredictedEffect =
  | { readonly kind: 'harmless' }
  /** It would store an item in Tasks for 30 days, which would settle a later task of the same id. */
  | { readonly kind: 'orphan' }
  /** It would settle a real extraction in place of the provider. */
  | { readonly kind: 'settles'; readonly record: Extraction };

const changeable: readonly string[] = [
  ...allowedTransitions.markSettled.from,
  ...allowedTransitions.correctOutcome.from,
];

/**
 * What a validly signed delivery would do to the extraction that its task is linked to, if any. A webhook settles one
 * that is RUNNING and corrects one that is TIMED_OUT. For any other it is a repetition, or a status disagreement, which
 * is counted and changes nothing.
 */
export const predictDelivery = (record: Extraction | undefined): PredictedEffect => {
  if (record === undefined) return { kind: 'orphan' };
  return changeable.includes(record.status) ? { kind: 'settles', record } : { kind: 'harmless' };
};

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
