import { readDeliveries } from '../aws/read-deliveries.ts';
import { readStartRate } from '../aws/read-rate.ts';
import { breakersOf } from '../aws/stores.ts';
import { byProduct, describeDeliveries, describeSubject, healthHeading } from '../health/describe-health.ts';
import { healthSource } from '../health/health-source-from-logs.ts';
import { readHealth } from '../health/read-health.ts';
import { describeLine } from '../terminal/describe-rate.ts';
import type { CommandContext } from './command-context.ts';
import { hintHeldCalls } from './list.ts';

/**
 * Prints for each entity and product how its extractions ended, the worst first. Each run reads the logs anew: a person asks,
 * and a file that keeps an answer for the next run would show an outage too late.
 */
export const health = async ({ shell, connect }: CommandContext): Promise<number> => {
  const deployment = await connect();
  const now = shell.now();
  shell.wait('reading the logs');
  const source = healthSource(deployment, { now, sleep: shell.sleep });
  const { subjects, complete } = await readHealth(source, now);
  shell.wait(undefined);
  // What is held ends nothing, so that no figure below shows it.
  await hintHeldCalls(breakersOf(deployment), shell);
  const { items, complete: isWhole } = await readDeliveries(deployment, new Date(now.getTime() - 3_600_000));
  if (items.length > 0) shell.hint(describeDeliveries(items, isWhole));
  const line = describeLine(await readStartRate(deployment, now), now);
  if (line.length > 0) shell.hint(line);
  for (const [index, subject] of subjects.entries()) {
    shell.print([...(index === 0 ? [healthHeading] : []), ...describeSubject(subject)], subject);
  }
  if (subjects.some(({ kind }) => kind === 'product')) shell.hint(byProduct);
  if (subjects.length === 0) shell.hint('No extraction was requested, started or ended within two days.');
  if (!complete) shell.hint('The logs have more lines than were read: the counts are too low.');
  return 0;
};
