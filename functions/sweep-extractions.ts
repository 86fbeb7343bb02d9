import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { reconcilerOver } from '../lib/aws/reconciler.ts';
import { type Swept, sweep } from '../lib/extraction/sweep.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { countSweep, countSweepBegun } from '../lib/observability/count-sweep.ts';
import { log, logFailure, observability, observe, publishNow } from '../lib/observability/observability.ts';

const now = () => new Date();
const { reconcileOne, extractions, timings, connection } = reconcilerOver(now);

const sweepExtractions = async (_event: unknown, context: Context): Promise<Swept> => {
  const swept = await sweep({
    extractions,
    reconcile: (extractionId) => reconcileOne(extractionId, { caller: 'sweep' }),
    now,
    timings,
    random: Math.random,
    onBegin: () => countSweepBegun(observe, publishNow),
    remainingMs: () => context.getRemainingTimeInMillis(),
    // A login and a read, and as much again as five seconds hold of our own work.
    reserveMs: 2 * connection.totalTimeoutMs + 5_000,
    onFailure: (extractionId, error) => {
      log.warn('The sweep could not bring an extraction forward.', { extractionId });
      logFailure('Reconcile failed.', error);
    },
  });
  log.info('Swept.', { ...swept });
  countSweep(swept, observe);
  return swept;
};

export const handler = middy<unknown, Swept>()
  .use(observability())
  .use(concealFailures())
  .handler(sweepExtractions);
