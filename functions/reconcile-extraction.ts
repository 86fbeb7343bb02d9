import middy from '@middy/core';
import { reconcilerFromEnvironment } from '../lib/aws/wiring/reconciler.ts';
import {
  answerReconcile,
  NotYet,
  type ReconcileAnswer,
  type ReconcileEvent,
  reconcileCallerOf,
} from '../lib/extraction/reconcile-event.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { logAbout, observability } from '../lib/observability/observability.ts';

const { reconcileOne } = reconcilerFromEnvironment(() => new Date());

const reconcileExtraction = async (event: ReconcileEvent): Promise<ReconcileAnswer> => {
  const { extractionId } = event;
  logAbout({ extractionId });
  const caller = reconcileCallerOf(event);
  const sealedTarget = event.trigger === 'machine' ? event.sealedTarget : null;
  const result = await reconcileOne(extractionId, caller, sealedTarget);
  return answerReconcile(extractionId, result, caller.kind);
};

export const handler = middy<ReconcileEvent, ReconcileAnswer>()
  .use(observability())
  .use(concealFailures(NotYet))
  .handler(reconcileExtraction);
