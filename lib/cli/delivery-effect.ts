import type { Extraction } from '../extraction/record.ts';
import { transitions } from '../extraction/transitions.ts';

/** Whom a test delivery would reach. */
export type Recipient =
  /** No extraction is linked to the task. */
  { readonly kind: 'nobody' } | { readonly kind: 'extraction'; readonly record: Extraction };

/** What a test delivery would do, and so what it takes to make it. */
export type DeliveryEffect =
  | { readonly kind: 'harmless' }
  /** It leaves a row in Tasks for 30 days, which would end a task that ever bears this id. */
  | { readonly kind: 'orphan' }
  /** It would change what a real extraction says, on our word. */
  | { readonly kind: 'settles'; readonly record: Extraction };

/** What a webhook may move. */
const settled: readonly string[] = [...transitions.markSettled.from, ...transitions.correctOutcome.from];

/**
 * What a validly signed delivery would do. A webhook settles what runs, and corrects a TIMED_OUT; to any other record
 * it is a repetition or, naming another end, a disagreement that is counted and changes nothing.
 */
export const deliveryEffect = (recipient: Recipient): DeliveryEffect => {
  if (recipient.kind === 'nobody') return { kind: 'orphan' };
  const { record } = recipient;
  return settled.includes(record.status) ? { kind: 'settles', record } : { kind: 'harmless' };
};
