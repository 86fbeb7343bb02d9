import { setTimeout } from 'node:timers/promises';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { dynamoNameIndex } from '../../../../lib/aws/dynamo-extraction-store.ts';
import { cachedRead } from '../../../../lib/cached-read.ts';
import { logMessages } from '../../../../lib/observability/log-messages.ts';
import type { Deployment } from '../../aws/deployment.ts';
import type { LoggedFields } from '../../aws/logs.ts';
import { logsClient, readFunctionLog } from '../../aws/logs.ts';
import { queueClient, readQueue } from '../../aws/queues.ts';
import { alarmNamesOf, readAlarms } from '../../aws/read-alarms.ts';
import { openExtractionIds, readExtractions } from '../../aws/read-extractions.ts';
import { readHoursOfMetrics } from '../../aws/read-hours.ts';
import { readLineHistory } from '../../aws/read-line-history.ts';
import { readStartRate } from '../../aws/read-rate.ts';
import { recentExtractionsReader } from '../../aws/recent-extractions-reader.ts';
import { extractionsOf, tasksOf } from '../../aws/stores.ts';
import { checksOf } from '../../doctor/checks.ts';
import { runCheck } from '../../doctor/finding.ts';
import { progressOf, tryingOf } from '../../explain/execution-progress.ts';
import { explainExtraction } from '../../explain/explain-extraction.ts';
import type { StorySources } from '../../explain/sources.ts';
import { storySources } from '../../explain/story-sources-from-aws.ts';
import { healthSource } from '../../health/health-source-from-logs.ts';
import { readHealth, readHours } from '../../health/read-health.ts';
import { CliError } from '../../terminal/errors.ts';
import { parseDeliveryLine, parseSweepLine } from './parse-log-lines.ts';
import { startOf } from './select-extractions.ts';
import type { Bounded, ConsoleSources, QueueLine } from './sources.ts';

/** The doctor's delivery with a wrong signature is counted, and an open page would repeat it until an alarm sounds. */
const checksNotMade = ['webhook', 'provider'];

const logReader = ({ client, resources, stackName }: Deployment) => {
  const logs = logsClient(client);
  /** @param part of the name that CloudFormation generates for a function's log group */
  return async <Line>(
    part: string,
    filterPattern: string,
    since: Date,
    parse: (fields: LoggedFields) => Line | undefined,
  ): Promise<Bounded<Line>> => {
    const logGroupName = (await resources('AWS::Logs::LogGroup')).find((name) => name.includes(part));
    if (logGroupName === undefined) throw new CliError(`${stackName} has no log group ${part}.`);
    return readFunctionLog(logs, { logGroupName, filterPattern, since }, parse);
  };
};

/** Many pages of the same extraction share a story, which takes some twenty requests. */
const storySeconds = { onAws: 15, emulated: 1 } as const;

/** A history is one request for each row. AWS allows 20 a second. */
const trySeconds = { onAws: 10, emulated: 1 } as const;

/** As long as a page waits between two updates, or less. */
const openSeconds = { onAws: 4, emulated: 0.5 } as const;

/** AWS bills these queries by the GB that they read, so an open page repeats them every five minutes. In memory only. */
const subjectSeconds = { onAws: 300, emulated: 5 } as const;

const secondsFor = ({ isEmulated }: Deployment, seconds: Readonly<Record<'onAws' | 'emulated', number>>) =>
  isEmulated ? seconds.emulated : seconds.onAws;

/** As many as somebody has open. */
const maxStories = 50;

/** As many as BatchGetItem takes. An open page reads them at every update. */
const maxOfName = 100;

/** Reads by a key such as an extractionId, each kept for so long, and of the last so many keys. */
const keptEach = <Key extends string, Value>(
  seconds: number,
  now: () => Date,
  read: (key: Key) => Promise<Value>,
): ((key: Key) => Promise<Value>) => {
  const readers = new Map<Key, () => Promise<Value>>();
  return (key) => {
    const reader = readers.get(key) ?? cachedRead(seconds, now, () => read(key));
    readers.set(key, reader);
    const [oldest] = readers.keys();
    if (readers.size > maxStories && oldest !== undefined) readers.delete(oldest);
    return reader();
  };
};

const triesReader = (seconds: number, sources: StorySources, now: () => Date): ConsoleSources['tries'] => {
  const settings = cachedRead(60, now, () => sources.settings());
  const tryingFor = keptEach(seconds, now, async (extractionId) => {
    const execution = await sources.execution(extractionId);
    return execution === undefined ? undefined : tryingOf(progressOf(execution), await settings());
  });
  return async (ids) => {
    const read = await Promise.all(ids.map(async (id) => [id, await tryingFor(id)] as const));
    return read.flatMap(([id, trying]) => (trying === undefined ? [] : [[id, trying] as const]));
  };
};

/** So long is a period of the line. CloudWatch keeps one of a minute, and counts it within another. */
const linePeriods = { '1h': 60, '6h': 300, '24h': 900 } as const;
const emulatedPeriods = { '1h': 10, '6h': 60, '24h': 300 } as const;
const lineSeconds = { onAws: 60, emulated: 3 } as const;

const lineReader = (deployment: Deployment, now: () => Date): ConsoleSources['line'] => {
  const periods = deployment.isEmulated ? emulatedPeriods : linePeriods;
  return keptEach(secondsFor(deployment, lineSeconds), now, (since) => {
    const until = now();
    const period = { since: startOf(since, until), until, periodSeconds: periods[since] };
    return readLineHistory(deployment, period);
  });
};

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html */
const { deliveryReceived, deliveryRefused, sweepFinished } = logMessages;
const deliveryPattern = `{ ($.message = "${deliveryReceived}") || ($.message = "${deliveryRefused}") || ($.level = "ERROR") }`;
const sweepPattern = `{ $.message = "${sweepFinished}" }`;

export const consoleSources = (deployment: Deployment, now: () => Date): ConsoleSources => {
  const { client, output } = deployment;
  const dynamo = new DynamoDBClient(client);
  const queues = queueClient(deployment);
  const table = output('ExtractionsTableName');
  const extractions = extractionsOf(deployment);
  const names = dynamoNameIndex(dynamo, table);
  const tasks = tasksOf(deployment, now);
  const cloudWatch = new CloudWatchClient(client);
  const stateMachineArn = output('StateMachineArn');
  const executions = { stepFunctions: new SFNClient(client), dynamo, stateMachineArn, table, now };
  const readLastHour = recentExtractionsReader(executions);
  const story = storySources(deployment, now);
  const readLog = logReader(deployment);
  const queueLine = async (name: string, url: string, isDeadLetters: boolean): Promise<QueueLine> => ({
    name,
    isDeadLetters,
    ...(await readQueue(queues, url)),
  });
  return {
    sweepEveryMinutes: deployment.sweepEveryMinutes(),
    // Every page counts those that a hold keeps waiting, so that open pages share a read.
    open: cachedRead(secondsFor(deployment, openSeconds), now, async () => {
      const records = await readExtractions(dynamo, table, await openExtractionIds(dynamo, table));
      // The index is eventually consistent, and may still have records that have closed.
      return records.filter(({ dueShard }) => dueShard !== undefined);
    }),
    recent: recentExtractionsReader(executions),
    // A reader keeps the closed records of its last read, so this one is not shared. Every page counts what failed.
    lastHour: cachedRead(secondsFor(deployment, openSeconds), now, () => readLastHour(startOf('1h', now()))),
    record: extractions.get,
    recordOfTask: async (taskId) => {
      const extractionId = (await tasks.get(taskId))?.extractionId;
      return extractionId === undefined ? undefined : extractions.get(extractionId);
    },
    withName: async (by, name) => {
      const { entries, last } = await names.find({ by, name, limit: 1_000 });
      const newest = entries.toSorted((one, other) => other.requestedAt.localeCompare(one.requestedAt));
      const ids = newest.slice(0, maxOfName).map(({ extractionId }) => extractionId);
      const complete = last === undefined && entries.length <= maxOfName;
      return { items: await readExtractions(dynamo, table, ids), complete };
    },
    story: keptEach(secondsFor(deployment, storySeconds), now, (id) =>
      explainExtraction(story, { extractionId: id, now: now(), command: deployment.command }),
    ),
    tries: triesReader(secondsFor(deployment, trySeconds), story, now),
    holds: story.holds,
    rate: cachedRead(secondsFor(deployment, openSeconds), now, () => readStartRate(deployment, now())),
    deliveries: (since) => readLog('ReceiveWebhookLog', deliveryPattern, since, parseDeliveryLine),
    sweeps: cachedRead(10, now, () => {
      const since = new Date(now().getTime() - 3_600_000);
      return readLog('SweepExtractionsLog', sweepPattern, since, parseSweepLine);
    }),
    findings: cachedRead(60, now, () =>
      Promise.all(
        checksOf(deployment, {}, now())
          .filter(({ id }) => !checksNotMade.includes(id))
          .map(async (check) => ({ id: check.id, ...(await runCheck(check, deployment.command)) })),
      ),
    ),
    alarms: cachedRead(30, now, async () => readAlarms(cloudWatch, await alarmNamesOf(deployment))),
    hours: cachedRead(secondsFor(deployment, subjectSeconds), now, () =>
      readHoursOfMetrics(deployment, now()),
    ),
    line: lineReader(deployment, now),
    subjects: cachedRead(secondsFor(deployment, subjectSeconds), now, async () => {
      const at = now();
      const sleep = (milliseconds: number): Promise<void> => setTimeout(milliseconds);
      const source = healthSource(deployment, { now: at, sleep });
      const [report, hours] = await Promise.all([readHealth(source, at), readHours(source, at)]);
      return { ...report, hours };
    }),
    queues: cachedRead(10, now, () =>
      Promise.all([
        queueLine('reconcile queue', output('ReconcileQueueUrl'), false),
        queueLine('slow queue', output('SlowQueueUrl'), false),
        queueLine('dead letters', output('DeadLetterQueueUrl'), true),
      ]),
    ),
  };
};
