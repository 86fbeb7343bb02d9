import type { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { isOverdue } from '../../../lib/extraction/deadlines.ts';
import type { Extraction } from '../../../lib/extraction/record.ts';
import { refusedSessions } from '../../../lib/provider/assumptions.ts';
import { countMessages } from '../aws/queues.ts';
import { readAlarms } from '../aws/read-alarms.ts';
import { ownMetric, readMetric, sumMetric } from '../aws/read-metric.ts';
import { type Breakers, readHolds } from '../aws/stores.ts';
import type { CommandText } from '../terminal/command-text.ts';
import { describeHolds } from '../terminal/describe-hold.ts';
import { formatSeconds, secondsSince } from '../terminal/format-seconds.ts';
import { type Found, failed, passed, skipped } from './finding.ts';

export const checkAlarms = async (client: CloudWatchClient, names: readonly string[]): Promise<Found> => {
  const inAlarm = (await readAlarms(client, names)).filter(({ state }) => state === 'ALARM');
  if (inAlarm.length === 0) return passed(`none of ${names.length} alarms is in ALARM`);
  const named = inAlarm.map(({ name }) => name).join(', ');
  return failed(`in ALARM: ${named}`, 'docs/operations.md has an entry for each alarm.');
};

export const checkBreakers = async (breakers: Pick<Breakers, 'list'>, now: Date): Promise<Found> => {
  const holds = await readHolds(breakers, now);
  if (holds.length === 0) return passed('neither starts nor reads are held');
  // A pause is over by a command alone. It must not read as if one only had to wait.
  const paused = holds.filter(({ kind }) => kind === 'paused').map(({ calls }) => calls);
  const remedies = (command: CommandText): readonly string[] => [
    ...(paused.length === 0
      ? []
      : [`An operator paused ${paused.join(' and ')}. \`${command('resume')}\` ends that.`]),
    ...(paused.length === holds.length ? [] : ['Starts that a breaker holds go on once one is accepted.']),
  ];
  return failed(describeHolds(holds, now).join('; '), (command) => remedies(command).join(' '));
};

export const checkDeadLetters = async (client: SQSClient, queueUrl: string): Promise<Found> => {
  const count = await countMessages(client, queueUrl);
  if (count === 0) return passed('dead-letter queue is empty');
  return failed(
    `dead-letter queue holds ${count}`,
    (command) =>
      `Read the log of reconcile-extraction for their time, repair the cause, then \`${command('redrive')}\`.`,
  );
};

/** Fails where something was not published to the bus. Without a URL there is no bus. */
export const checkEventBus = async (queues: SQSClient, queueUrl: string | undefined): Promise<Found> => {
  if (queueUrl === undefined) return skipped('bus: none, as publishEvents is off');
  const count = await countMessages(queues, queueUrl);
  if (count === 0) return passed('bus: the dead-letter queue of publish-events is empty');
  return failed(
    `bus: the dead-letter queue of publish-events holds ${count}`,
    'Follow the entry events-unpublished of docs/operations.md.',
  );
};

/** Fails where a record is overdue. `due` are the records whose `dueAt` has passed. */
export const checkOverdue = (due: readonly Extraction[], everyMinutes: number, now: Date): Found => {
  const [oldest] = due
    .flatMap(({ extractionId, dueAt }) =>
      dueAt === undefined ? [] : [{ extractionId, late: secondsSince(dueAt, now) }],
    )
    .toSorted((one, other) => other.late - one.late);
  const overdue = due.filter((record) => isOverdue(record, now, everyMinutes)).length;
  if (oldest === undefined) return passed('no open extraction is due');
  const since = `${oldest.extractionId}, for ${formatSeconds(oldest.late)}`;
  if (overdue === 0) return passed(`${due.length} due, and none overdue; the longest, ${since}`);
  return failed(
    `${overdue} overdue; the longest due, ${since}`,
    (command) => `\`${command('reconcile', oldest.extractionId)}\` reconciles it now and reports what fails.`,
  );
};

/** Fails where no sweep finished within three of its intervals, as the alarm `sweep-not-running` does. */
export const checkSweep = async (
  client: CloudWatchClient,
  stage: string,
  everyMinutes: number,
  now: Date,
): Promise<Found> => {
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
    (command) =>
      `Check that its rule is enabled, and read the log of sweep-extractions. \`${command('reconcile', '--all-due')}\` runs one now.`,
  );
};

/** Fails where the provider ends sessions before they expire, as the alarm `sessions-refused` does. Shows the logins and the starts. */
export const checkSessions = async (client: CloudWatchClient, stage: string, now: Date): Promise<Found> => {
  const since = new Date(now.getTime() - 30 * 60_000);
  const [logins, refused, started] = await Promise.all([
    sumMetric(client, ownMetric(stage, 'LoggedIn'), since, now),
    sumMetric(client, ownMetric(stage, 'SessionRefused'), since, now),
    sumMetric(client, ownMetric(stage, 'SecondsToStart'), since, now, 'SampleCount'),
  ]);
  const shown = `${logins} logins, ${refused} refused sessions and ${started} starts within 30 min`;
  if (refused < 2 * refusedSessions) return passed(shown);
  return failed(shown, 'Follow the entry sessions-refused of docs/operations.md.');
};
