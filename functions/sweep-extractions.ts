import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { reconcilerFromEnvironment } from '../lib/aws/wiring/reconciler.ts';
import { countSweep, countSweepStarted } from '../lib/extraction/count-sweep.ts';
import { type SweepResult, sweep } from '../lib/extraction/sweep.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { count, log, logFailure, observability, publishNow } from '../lib/observability/observability.ts';

const now = () => new Date();
const { reconcileOne, extractions, timings, connection } = reconcilerFromEnvironment(now);

const sweepExtractions = async (_event: unknown, context: Context): Promise<SweepResult> => {
  const swept = await sweep({
    extractions,
    reconcile: (extractionId) => reconcileOne(extractionId, { kind: 'sweep' }),
    now,
    timings,
    random: Math.random,
    onStart: () => countSweepStarted(count, publishNow),
    remainingMs: () => context.getRemainingTimeInMillis(),
    // A login and a read, and as much again as five seconds hold of our own work.
    reserveMs: 2 * connection.totalTimeoutMs + 5_000,
    onFailure: (extractionId, error) => {
      log.warn('The sweep could not reconcile an extraction.', { extractionId });
      logFailure('Reconcile failed.', error);
    },
  });
  log.info('Sweep finished.', { ...swept });
  countSweep(swept, count);
  return swept;
};

export const handler = middy<unknown, SweepResult>()
  .use(observability())
  .use(concealFailures())
  .handler(sweepExtractions);
