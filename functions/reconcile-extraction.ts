import middy from '@middy/core';
import { reconcilerOver } from '../lib/aws/reconciler.ts';
import { answerReconciled, NotYet } from '../lib/extraction/answer-reconciled.ts';
import { type ReconcileAnswer, type ReconcileEvent, situationOf } from '../lib/extraction/reconcile-event.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { logAbout, observability } from '../lib/observability/observability.ts';

const { reconcileOne } = reconcilerOver(() => new Date());

const reconcileExtraction = async (event: ReconcileEvent): Promise<ReconcileAnswer> => {
  const { extractionId } = event;
  logAbout({ extractionId });
  const situation = situationOf(event);
  const sealedTarget = event.trigger === 'machine' ? event.sealedTarget : null;
  const reconciled = await reconcileOne(extractionId, situation, sealedTarget);
  return answerReconciled(extractionId, reconciled, situation.caller);
};

export const handler = middy<ReconcileEvent, ReconcileAnswer>()
  .use(observability())
  .use(concealFailures(NotYet))
  .handler(reconcileExtraction);
