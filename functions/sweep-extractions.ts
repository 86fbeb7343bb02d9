import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { reconcilerFromEnvironment } from '../lib/aws/wiring/reconciler.ts';
import type { SweepResult } from '../lib/extraction/count-sweep.ts';
import { sweep } from '../lib/extraction/sweep.ts';
import { concealFailures } from '../lib/observability/conceal-failures.ts';
import { count, journal, observability, publishNow } from '../lib/observability/observability.ts';

const now = () => new Date();
const { reconcileOne, extractions, timings, connection } = reconcilerFromEnvironment(now);

const sweepExtractions = (_event: unknown, context: Context): Promise<SweepResult> =>
  sweep({
    extractions,
    reconcile: (extractionId) => reconcileOne(extractionId, { kind: 'sweep' }),
    now,
    timings,
    random: Math.random,
    remainingMs: () => context.getRemainingTimeInMillis(),
    // One login and one read may take their whole timeout; five seconds are for everything else.
    reserveMs: 2 * connection.totalTimeoutMs + 5_000,
    journal,
    metrics: { count, publish: publishNow },
  });

export const handler = middy<unknown, SweepResult>()
  .use(observability())
  .use(concealFailures())
  .handler(sweepExtractions);
