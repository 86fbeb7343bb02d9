import {
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { allTombstones } from '../../../lib/aws/dynamo-erasure-store.ts';
import { erasedKey, type RestoredKind, type RestoreResult } from '../../../lib/extraction/operate/restore.ts';
import type { Deployment } from '../aws/deployment.ts';
import { readReconcileSettings } from '../aws/read-reconcile-settings.ts';
import { requestsOf } from '../aws/stores.ts';
import { eraseSenderOf } from '../operate/begin-erasure.ts';
import { copyBackup, manyConnections } from '../operate/copy-backup.ts';
import { CliError, UsageError } from '../terminal/errors.ts';
import type { CommandContext } from './command-context.ts';

type RestoreOptions = {
  readonly from: string;
  readonly dryRun?: true;
};

const meanings: Readonly<Record<RestoredKind, string>> = {
  closed: 'copied unchanged, closed',
  due: 'copied, due now: the next sweep queues it',
  unconfirmed: 'copied as UNCONFIRMED: not confirmed as started in the backup, and never started again',
  present: 'not copied: already in the live table',
  'requested-again':
    'not copied: the live table has another request with the same idempotency key. Check each',
  erased: 'omitted: it was erased',
  expired: 'omitted: the retention is over',
  unreadable: 'omitted: not a record of an extraction',
};

/** Not printed one by one: nearly all records of a backup are closed. */
const quiet: readonly RestoredKind[] = ['closed', 'expired', 'present'];

/** Prints each record that somebody may have to look at, and while it copies how far it is. `total`: of some records in the backup. */
const progressOf = ({ shell }: Pick<CommandContext, 'shell'>, total: number) => {
  const startedAt = shell.now().getTime();
  let done = 0;
  let shownAt = 0;
  return (extractionId: string, kind: RestoredKind): void => {
    done += 1;
    const now = shell.now().getTime();
    if (!quiet.includes(kind)) {
      shell.wait(undefined);
      shell.print(`${extractionId}  ${kind}`, { extractionId, kind });
    }
    if (now - shownAt < 1_000) return;
    shownAt = now;
    shell.wait(describeProgress(done, total, (now - startedAt) / 1_000));
  };
};

const describeProgress = (done: number, total: number, seconds: number): string => {
  const rate = seconds > 0 ? Math.round(done / seconds) : 0;
  const left = rate > 0 && total > done ? `, ${((total - done) / rate / 3_600).toFixed(1)} h left` : '';
  return `${done} of some ${total} records, ${rate} a second${left}`;
};

const sumOf = (one: RestoreResult, other: RestoreResult): RestoreResult => {
  const sum = { ...one };
  for (const kind of Object.keys(meanings) as RestoredKind[])
    Object.assign(sum, { [kind]: one[kind] + other[kind] });
  return sum;
};

export const restore = async (
  { from, dryRun: isDryRun }: RestoreOptions,
  { shell, connect }: CommandContext,
): Promise<number> => {
  const deployment = await connect();
  const { client, output } = deployment;
  const dryRun = isDryRun === true;
  const table = output('ExtractionsTableName');
  if (from === table) throw new UsageError('--from is the live table. Name the restored one.');
  const dynamo = manyConnections(client);
  const total = await requireTable(dynamo, from);
  const { timings } = await readReconcileSettings(deployment);
  const requests = requestsOf(deployment);
  const onRecord = progressOf({ shell }, total);
  const erased = await readErased(dynamo, output('ErasuresTableName'));
  const copy = (isOpen: boolean): Promise<RestoreResult> =>
    copyBackup(
      dynamo,
      { from, to: table, isOpen },
      {
        requests,
        dryRun,
        erased,
        now: shell.now,
        recordRetention: timings.recordRetention,
        onRecord,
      },
    );
  shell.wait('copying');
  const open = await copy(true);
  shell.wait(undefined);
  if (!dryRun) {
    const line = 'All open records are there: callers may request again. The closed ones follow.';
    shell.print(line, { openRecordsRestored: true });
  }
  const result = sumOf(open, await copy(false));
  if (!dryRun) await eraseAgain(erased, dynamo, deployment);
  shell.wait(undefined);
  const lines = (Object.keys(meanings) as RestoredKind[])
    .filter((kind) => result[kind] > 0)
    .map((kind) => `${result[kind]} ${meanings[kind]}`);
  const heading = dryRun ? 'Nothing was written. Without --dry-run:' : 'Done:';
  shell.print([heading, ...(lines.length === 0 ? ['the table is empty'] : lines)], { dryRun, ...result });
  return 0;
};

/**
 * What was erased while the copy ran, and may have been copied after that, is erased again. So is what an erasure found missing while the
 * table was lost.
 */
const eraseAgain = async (
  known: ReadonlySet<string>,
  dynamo: DynamoDBClient,
  deployment: Deployment,
): Promise<void> => {
  const send = eraseSenderOf(deployment);
  for await (const tombstone of allTombstones(dynamo, deployment.output('ErasuresTableName'))) {
    const { erasureId, extractionId, requestId } = tombstone;
    if (!known.has(erasedKey(tombstone)))
      await send({ erase: { erasureId, extractionId, requestId } }, 'an operator');
  }
};

/** What was erased, or is being erased. Read before anything is copied: without it, a restore would bring people back. */
const readErased = async (dynamo: DynamoDBClient, table: string): Promise<ReadonlySet<string>> => {
  const all = new Set<string>();
  for await (const tombstone of allTombstones(dynamo, table)) all.add(erasedKey(tombstone));
  return all;
};

/** Throws if the table cannot be read as a backup. Returns how many records it has, which AWS counts every six hours. */
const requireTable = async (dynamo: DynamoDBClient, TableName: string): Promise<number> => {
  const { Table } = await dynamo.send(new DescribeTableCommand({ TableName })).catch((cause: unknown) => {
    if (!(cause instanceof ResourceNotFoundException)) throw cause;
    throw new CliError(`There is no table ${TableName} in this account and region.`, { cause });
  });
  if (Table?.KeySchema?.[0]?.AttributeName !== 'extractionId') {
    throw new CliError(`${TableName} is not a table of extractions: its key is not extractionId.`);
  }
  if (Table.TableStatus !== 'ACTIVE') {
    throw new CliError(`${TableName} is ${String(Table.TableStatus)}. Wait until it is ACTIVE.`);
  }
  return Table.ItemCount ?? 0;
};
