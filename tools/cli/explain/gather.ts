import { plusSeconds } from '../../../lib/extraction/deadlines.ts';
import { type Extraction, hasWebhook } from '../../../lib/extraction/record.ts';
import type { CommandText } from '../terminal/command-text.ts';
import { explainFailure } from '../terminal/explain-failure.ts';
import { bounded } from './bounded-text.ts';
import { type Progress, progressOf } from './execution-progress.ts';
import type { StorySources } from './sources.ts';

type SourceName = keyof StorySources;

const names: Readonly<Record<SourceName, string>> = {
  settings: 'The settings',
  record: 'The record',
  task: 'The item in Tasks',
  execution: "The execution's history",
  logs: "The functions' logs",
  deliveries: 'Refused deliveries',
  holds: 'Pauses and circuit breakers',
  sweep: "The sweep's schedule",
  place: 'The item in StartLine',
  line: 'The line',
};

/** Clocks of Lambda, Step Functions and DynamoDB differ. */
const slackSeconds = 60;

const reasonOf = (error: unknown): string =>
  explainFailure(error) ?? (error instanceof Error ? error.name : 'an unknown error');

/** Reads sources, and keeps why one could not be read. */
const reader = () => {
  const unread = new Set<SourceName>();
  const notShown: string[] = [];
  const read = async <Value>(source: SourceName, reading: Promise<Value>): Promise<Value | undefined> => {
    try {
      return await reading;
    } catch (error) {
      unread.add(source);
      notShown.push(bounded(`${names[source]}: ${reasonOf(error)}`));
      return undefined;
    }
  };
  return { unread, notShown, read };
};

const firstSeenAt = (record: Extraction | undefined, execution: Progress | undefined): string | undefined =>
  [record?.requestedAt, execution?.startedAt].filter((time) => time !== undefined).toSorted()[0];

/** For how long after it was settled the logs can have something about a closed extraction, in seconds. */
const afterCollecting = 30 * 60;
/** Collecting and grace end within a day, by default. */
const withoutCollecting = 25 * 3_600;

const lastSeenAt = (record: Extraction | undefined, now: Date): string => {
  const { dueShard, settledAt, collectedAt } = record ?? {};
  if (settledAt === undefined || dueShard !== undefined) return now.toISOString();
  return collectedAt === undefined
    ? plusSeconds(settledAt, withoutCollecting)
    : plusSeconds(collectedAt, afterCollecting);
};

export type Asked = { readonly extractionId: string; readonly now: Date; readonly command: CommandText };

/** Reads every source. A source that throws is named in `notShown`, and the others are still read. */
export const gather = async (sources: StorySources, { extractionId, now, command }: Asked) => {
  const { unread, notShown, read } = reader();
  const [settings, record, history, holds, sweep] = await Promise.all([
    read('settings', sources.settings()),
    read('record', sources.record(extractionId)),
    read('execution', sources.execution(extractionId)),
    read('holds', sources.holds()),
    read('sweep', sources.sweep()),
  ]);
  const execution = history === undefined ? undefined : progressOf(history);
  const taskId = record?.taskId;
  const since = firstSeenAt(record, execution);
  const ids = [extractionId, ...(taskId === undefined ? [] : [taskId])];
  const to = lastSeenAt(record, now);
  const found = record?.status === 'REQUESTED' ? await read('place', sources.place(extractionId)) : undefined;
  // One of an earlier record under the same id is none of this one.
  const place = found?.requestId === record?.requestId ? found : undefined;
  const [line, task, logged, delivered] = await Promise.all([
    place?.isWaiting === true ? read('line', sources.line()) : undefined,
    taskId === undefined ? undefined : read('task', sources.task(taskId)),
    since === undefined
      ? undefined
      : read('logs', sources.logs(ids, { from: plusSeconds(since, -slackSeconds), to })),
    record?.startingAt === undefined || !hasWebhook(record) || record.settledBy === 'webhook'
      ? undefined
      : read(
          'deliveries',
          sources.deliveries({ from: record.startingAt, to: record.settledAt ?? now.toISOString() }),
        ),
  ]);
  if (logged?.complete === false) notShown.push("The functions' logs: they hold more lines than were read.");
  return {
    extractionId,
    now,
    command,
    settings,
    record,
    task,
    execution,
    sweep,
    unread,
    notShown,
    logs: logged?.items ?? [],
    hasAllLogs: logged?.complete === true,
    holds: holds ?? [],
    place,
    line,
    /** How many deliveries, of any task, were refused while it ran, as no key fits. */
    refusedDeliveries: (delivered?.items ?? []).filter(({ verifiedBy }) => verifiedBy === undefined).length,
  };
};

/** What all sources together know about one extraction. An absent value is either not there, or its source is `unread`. */
export type Known = Readonly<Awaited<ReturnType<typeof gather>>>;
