import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { paginateListExecutions, SFNClient } from '@aws-sdk/client-sfn';
import type { Extraction } from '../../../lib/extraction/record.ts';
import type { Bounded, Deployment } from './deployment.ts';
import { openExtractionIds, readExtractions } from './read-extractions.ts';

export type RecentExtractionsDeps = {
  readonly stepFunctions: SFNClient;
  readonly dynamo: DynamoDBClient;
  readonly stateMachineArn: string;
  readonly table: string;
  readonly now: () => Date;
};

/** One page of ListExecutions, and ten of BatchGetItem. More would not fit on a screen. */
const maxExecutions = 1_000;

/** A closed record changes only by a correction or an erasure, so it is read again after a minute. */
const rereadClosedAfterMs = 60_000;

/** The names of the newest executions, which are extractionIds. Step Functions lists the newest first. */
const executionsSince = async (
  { stepFunctions, stateMachineArn }: Pick<RecentExtractionsDeps, 'stepFunctions' | 'stateMachineArn'>,
  since: Date,
  most = maxExecutions,
) => {
  const names: string[] = [];
  const pages = paginateListExecutions(
    { client: stepFunctions, pageSize: maxExecutions },
    { stateMachineArn },
  );
  for await (const { executions = [] } of pages) {
    const inTime = executions.filter(({ startDate }) => startDate !== undefined && startDate >= since);
    names.push(...inTime.flatMap(({ name }) => name ?? []));
    if (inTime.length < executions.length) return { items: names, complete: true };
    if (names.length >= most) return { items: names.slice(0, most), complete: false };
  }
  return { items: names, complete: true };
};

/** The ids of all that is open, and of the newest 1,000 executions. */
export const knownExtractionIds = async ({ client, output }: Deployment): Promise<readonly string[]> => {
  const executions = { stepFunctions: new SFNClient(client), stateMachineArn: output('StateMachineArn') };
  const [open, { items }] = await Promise.all([
    openExtractionIds(new DynamoDBClient(client), output('ExtractionsTableName')),
    executionsSince(executions, new Date(0)),
  ]);
  return [...open, ...items];
};

/**
 * Reads the records of the newest executions, at most `most`. No index of the table has closed records by time, and a
 * scan would read them all. Throws the SDK's errors.
 */
export const recentExtractionsReader = (
  deps: RecentExtractionsDeps,
  most = maxExecutions,
): ((since: Date) => Promise<Bounded<Extraction>>) => {
  const { dynamo, table, now } = deps;
  let closed = new Map<string, { readonly record: Extraction; readonly readAt: number }>();
  return async (since) => {
    const { items: ids, complete } = await executionsSince(deps, since, most);
    const at = now().getTime();
    const known = ids.flatMap((id) => {
      const found = closed.get(id);
      return found !== undefined && at - found.readAt < rereadClosedAfterMs ? [found] : [];
    });
    const knownIds = new Set(known.map(({ record }) => record.extractionId));
    const read = await readExtractions(
      dynamo,
      table,
      ids.filter((id) => !knownIds.has(id)),
    );
    const closedNow = read
      .filter(({ dueShard }) => dueShard === undefined)
      .map((record) => ({ record, readAt: at }));
    closed = new Map([...known, ...closedNow].map((one) => [one.record.extractionId, one]));
    return { items: [...known.map(({ record }) => record), ...read], complete };
  };
};
