import type { ReceivedMessage } from '../../../lib/extraction/reconcile/reconcile.ts';

/** As in infra/constructs/reconcile-queue.ts. */
const maxReceives = 5;

/** A message as its consumer receives it for the nth time. */
export const received = (body: string, times: number): ReceivedMessage => ({
  messageId: 'message',
  body,
  attributes: { ApproximateReceiveCount: `${times}` },
});

/** The milliseconds until a message whose consumer failed is received again. Undefined if it becomes a dead letter. */
export const untilNextReceive = (times: number, reconcileTimeout: number): number | undefined =>
  times >= maxReceives ? undefined : 6_000 * reconcileTimeout;
