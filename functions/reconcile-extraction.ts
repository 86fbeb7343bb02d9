import middy from '@middy/core';
import type { SQSEvent } from 'aws-lambda';
import { reconcilerFromEnvironment } from '../lib/aws/wiring/reconciler-from-environment.ts';
import {
  answerReconcile,
  type BatchAnswer,
  NotYet,
  type ReconcileAnswer,
  type ReconcileEvent,
  reconcileInvokerOf,
  reconcileMessages,
} from '../lib/extraction/reconcile/reconcile.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { endAtTimeout, observability, telemetry } from '../lib/observability/powertools-telemetry.ts';

const now = () => new Date();
const { reconcileOne, isOfSlowQueue, timings } = reconcilerFromEnvironment(now);

/** Messages of the queue, or a direct invocation by the machine or an operator. */
const reconcileExtraction = async (
  event: SQSEvent | ReconcileEvent,
): Promise<BatchAnswer | ReconcileAnswer> => {
  if ('Records' in event) {
    const isSlow = isOfSlowQueue(event.Records[0]?.eventSourceARN);
    return reconcileMessages(event.Records, { isSlow, reconcile: reconcileOne, now, timings, telemetry });
  }
  const { extractionId } = event;
  telemetry.about({ extractionId });
  const invoker = reconcileInvokerOf(event);
  return answerReconcile(extractionId, await reconcileOne(extractionId, invoker), invoker.kind);
};

export const handler = middy<SQSEvent | ReconcileEvent, BatchAnswer | ReconcileAnswer>(endAtTimeout)
  .use(observability())
  .use(concealFailures(NotYet))
  .handler(reconcileExtraction);
