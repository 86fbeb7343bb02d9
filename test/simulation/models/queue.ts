/** As in infra/constructs/work-queue.ts. */
const maxReceives = 5;

/** The milliseconds until a message whose consumer failed is received again. Undefined if it becomes a dead letter. */
export const untilNextReceive = (times: number, reconcileTimeout: number): number | undefined =>
  times >= maxReceives ? undefined : 6_000 * reconcileTimeout;
