import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { dynamoNameIndex } from '../../../lib/aws/dynamo-extraction-store.ts';
import { adviceOf } from '../../../lib/extraction/advice.ts';
import {
  type Advice,
  type Extraction,
  type ExtractionStatus,
  entityOrProductOf,
  openStatuses,
  ownOutcomes,
  terminalStatuses,
} from '../../../lib/extraction/record.ts';
import { isSameName } from '../../../lib/extraction/spellings.ts';
import { callerName } from '../terminal/operator-view.ts';
import type { Since } from '../terminal/parse-time.ts';
import type { Deployment } from './deployment.ts';
import { idsWithName, openExtractionIds, readExtractions } from './read-extractions.ts';
import { type RecentExtractionsDeps, recentExtractionsReader } from './recent-extractions-reader.ts';

export const allStatuses: readonly ExtractionStatus[] = [
  ...openStatuses,
  ...terminalStatuses,
  ...ownOutcomes,
];

/** The options of commands that find extractions. An absent one matches every record, and several values of one each of them. */
export type FindOptions = {
  readonly status?: readonly ExtractionStatus[];
  /** `todo`: whatever leaves something to do. */
  readonly advice?: readonly (Advice | 'todo')[];
  readonly entity?: string;
  /** The ARN, or the name of the role or user. */
  readonly caller?: string;
  readonly reference?: string;
  readonly batch?: string;
  /** Of the outcome or, while there is none, of the request. */
  readonly since?: Since;
  readonly until?: Since;
};

/** What was found, and the sentence about what may be missing. */
export type Found = {
  readonly records: readonly Extraction[];
  readonly which: 'open' | 'due' | 'known' | 'among the newest';
  readonly remark: string;
};

/** What `findExtractions` reads of a deployment. */
export const finderOf = ({ client, output }: Deployment, now: () => Date): RecentExtractionsDeps => ({
  dynamo: new DynamoDBClient(client),
  stepFunctions: new SFNClient(client),
  table: output('ExtractionsTableName'),
  stateMachineArn: output('StateMachineArn'),
  now,
});

/** When it ended or, while it has no outcome, when it was requested. */
export const latestOf = ({ requestedAt, settledAt = requestedAt }: Extraction): string => settledAt;

/** Of an outcome. One whose results are still to be collected has none yet. */
export const currentAdvice = (record: Extraction): Advice | undefined =>
  record.settledAt === undefined ? undefined : adviceOf(record);

export const hasAdvice = (record: Extraction, asked: FindOptions['advice']): boolean => {
  if (asked === undefined) return true;
  const advice = currentAdvice(record);
  return advice !== undefined && (asked.includes(advice) || (asked.includes('todo') && advice !== 'none'));
};

/** Whether a record has all that is asked for. */
export const matches = (record: Extraction, asked: FindOptions, now: Date): boolean => {
  const { status, entity, caller, reference, batch, since, until } = asked;
  const at = latestOf(record);
  return (
    (status === undefined || status.includes(record.status)) &&
    hasAdvice(record, asked.advice) &&
    (entity === undefined || entityOrProductOf(record) === entity) &&
    (caller === undefined || [record.requestedBy, callerName(record.requestedBy)].includes(caller)) &&
    (reference === undefined || isSameName(record.reference, reference)) &&
    (batch === undefined || isSameName(record.batch, batch)) &&
    (since === undefined || at >= since(now).toISOString()) &&
    (until === undefined || at < until(now).toISOString())
  );
};

const eventually = 'The index is eventually consistent: the last second may be missing.';

export const isOpenStatus = (status: ExtractionStatus): boolean =>
  openStatuses.some((openStatus) => openStatus === status);

/** An extraction ends within a day of its request, unless the provider or the sweep is down for longer. */
const maxOpenMs = 86_400_000;

/** Of a period that is named: what a million a month end in a day and a half, which cost $0.006. */
const maxOfPeriod = 50_000;

/** Those that ended: no index has them by time or status, so that they are found through their executions. */
const findEnded = async (asked: FindOptions, deps: RecentExtractionsDeps, now: Date) => {
  const { since } = asked;
  const begin = since === undefined ? new Date(0) : new Date(since(now).getTime() - maxOpenMs);
  const { items, complete } = await recentExtractionsReader(
    deps,
    since === undefined ? undefined : maxOfPeriod,
  )(begin);
  const remark = complete
    ? 'Step Functions keeps executions for 90 days.'
    : `Of the newest ${items.length.toLocaleString('en')} extractions and all open ones. Older ones are not searched: --since, --reference and --batch find them.`;
  return { items, remark };
};

/** The records that are open and match, by the time at which they are due. The index may still have closed ones. */
export const selectOpen = (
  records: readonly Extraction[],
  asked: FindOptions,
  now: Date,
): readonly Extraction[] =>
  records
    .filter((record) => record.dueAt !== undefined && matches(record, asked, now))
    .toSorted((one, other) => String(one.dueAt).localeCompare(String(other.dueAt)));

/**
 * Finds extractions by the cheapest index that has them: those with a reference or in a batch in the index of that name, open ones in the
 * index `due`, and others through their executions. An outcome can still be open, while its results are collected or a correction may come.
 *
 * @param only `open` or `due`: nothing else is asked for
 */
export const findExtractions = async (
  asked: FindOptions,
  deps: RecentExtractionsDeps,
  only?: 'open' | 'due',
): Promise<Found> => {
  const { dynamo, table } = deps;
  const now = deps.now();
  const read = (ids: readonly string[]) => readExtractions(dynamo, table, ids);
  const readOpen = async () =>
    read(await openExtractionIds(dynamo, table, only === 'due' ? now.toISOString() : undefined));
  const newest = (records: readonly Extraction[]) =>
    records
      .filter((record) => matches(record, asked, now))
      .toSorted((one, other) => latestOf(other).localeCompare(latestOf(one)));
  const { reference, batch, status, advice } = asked;
  const name = reference ?? batch;
  const isOfOpen = name === undefined && advice === undefined && (status ?? []).every(isOpenStatus);
  if (only !== undefined || isOfOpen) {
    return { records: selectOpen(await readOpen(), asked, now), which: only ?? 'open', remark: eventually };
  }
  if (name !== undefined) {
    const by = reference === undefined ? 'batch' : 'reference';
    const ids = await idsWithName(dynamoNameIndex(dynamo, table), { by, name });
    return { records: newest(await read(ids)), which: 'known', remark: eventually };
  }
  const { items, remark } = await findEnded(asked, deps, now);
  const distinct = new Map([...items, ...(await readOpen())].map((record) => [record.extractionId, record]));
  return { records: newest([...distinct.values()]), which: 'among the newest', remark };
};
