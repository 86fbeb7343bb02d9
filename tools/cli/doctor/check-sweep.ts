import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { ownMetric, readMetric } from '../aws/read-metric.ts';
import { formatSeconds } from '../terminal/format-seconds.ts';
import { type Finding, failed, passed } from './finding.ts';

/** Fails where no sweep finished within three of its intervals, as the alarm `sweep-not-running` does. */
export const checkSweep = async (
  client: CloudWatchClient,
  stage: string,
  everyMinutes: number,
  now: Date,
): Promise<Finding> => {
  const within = 3 * everyMinutes * 60;
  // A sweep counts 1 when it finishes, and nothing before.
  const finished = await readMetric(client, ownMetric(stage, 'SweepFinished'), {
    since: new Date(now.getTime() - within * 1_000),
    until: now,
    periodSeconds: 60,
    statistic: 'Sum',
  });
  const last = Math.max(...finished.map(({ at }) => at));
  if (finished.length > 0) return passed(`last sweep ${formatSeconds((now.getTime() - last) / 1_000)} ago`);
  return failed(
    `no sweep finished within ${formatSeconds(within)}`,
    'Check that its rule is enabled, and read the log of sweep-extractions. `cosecha reconcile --all-due` runs one now.',
  );
};
